"""`python -m bpelab` is `bpelab`."""

from .cli import main

raise SystemExit(main())
