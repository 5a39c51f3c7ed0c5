"""`python -m bpelab` is `bpelab`. Ctrl-C while the command line is imported ends it as it does later."""


def main() -> int:
    """Run the command line that the process was given; the exit code."""
    try:
        from .cli.main import main as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
