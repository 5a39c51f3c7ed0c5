"""Compare bpelab.js with other tokenizers for JavaScript: ids first, then loading and speed, in a run of some minutes.

    python -m tools.javascript_peers --texts FOLDER             print the tables
    python -m tools.javascript_peers --texts FOLDER --record    and keep the record, which the package's README shows

The libraries, in the versions of package.json, are installed by npm into the user's cache (`~/.cache/bpelab`), which
needs a network once. `peers.mjs` has the code that calls each; `measure.py` says what is measured, and how.
"""
