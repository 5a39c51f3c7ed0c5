"""`python -m bpelab` is `bpelab`. Ctrl-C while the command line is imported ends it as it does later."""

import sys


def main() -> int:
    """Run the command line that the process was given; the exit code."""
    try:
        if sys.argv[1:] == ["--version"]:  # which needs no parser, and is all that some scripts ask
            from . import __version__

            print(f"bpelab {__version__}")
            return 0
        from .cli.main import main as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
