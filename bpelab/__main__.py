"""Entry point of `python -m bpelab` and `bpelab`. Ctrl-C during imports exits as it does later."""

import sys


def main() -> int:
    """Run the process's command line, and return the exit code."""
    try:
        if sys.argv[1:] == ["--version"]:  # a fast path: it needs no parser, and some scripts ask nothing else
            from . import __version__

            print(f"bpelab {__version__}")
            return 0
        from .cli.main import main as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
