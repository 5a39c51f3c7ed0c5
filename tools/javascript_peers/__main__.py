"""The command: `python -m tools.javascript_peers --help`."""

import argparse
import sys
import tempfile
from pathlib import Path

from bpelab._support.cache_dir import cache_dir
from bpelab.bench.texts import find_texts
from bpelab.bench.vocabularies import SHIPPED, Unavailable, prepare

from . import __doc__ as about, record as records
from .measure import Plan, Run
from .processes import Missing, install, peers

FOLDER = Path(cache_dir() or tempfile.gettempdir()) / "javascript-peers"


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help="texts of 2 MB or more, as for `bpelab bench`")
    parser.add_argument("--encoding", action="append", metavar="NAME", help="default: cl100k_base and o200k_base")
    parser.add_argument("--folder", type=Path, default=FOLDER, help=f"where libraries are installed: {FOLDER}")
    parser.add_argument("--record", action="store_true", help="keep the record, and show it in the package's README")
    args = parser.parse_args()
    plan = Plan()
    texts = find_texts(args.texts, max_chars=plan.part * (plan.rounds + 4))
    try:
        install(args.folder)
        with tempfile.TemporaryDirectory(prefix="javascript-peers-") as work:
            run = Run(args.folder, records.PACKAGE, Path(work), peers(args.folder, records.PACKAGE), plan)
            record = records.new_record(run, texts)
            for name in args.encoding or SHIPPED:
                print(f"{name} ...", file=sys.stderr)
                run.measure(prepare(name, Path(work)), texts)
            record = records.finish(record, run)
    except (Missing, Unavailable) as error:
        sys.exit(str(error))
    print(records.tables(record))
    for entry in record["left_out"]:
        print(f"left out: {', '.join(entry.values())}")
    if args.record:
        records.write(record)


if __name__ == "__main__":
    main()
