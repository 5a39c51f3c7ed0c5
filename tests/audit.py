"""Compare the versions in constraints.txt with known vulnerabilities: `make audit`.

pip-audit asks an index of packages for what is known. Of packages that the index doesn't answer for it says that none
has a vulnerability; here that is counted as not compared, and said. Exit code 1 where something is known.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADVICE = "raise the version in constraints.txt, or say in SECURITY.md why it does no harm here"


def main(pip_audit: str) -> int:
    words = [pip_audit, "--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json", "--requirement"]
    done = subprocess.run([*words, str(ROOT / "constraints.txt")], capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"pip-audit reaches nothing that it could ask: {done.stderr.strip().splitlines()[-1:]}")
        return 0
    compared = [package for package in found if "skip_reason" not in package]
    print(f"{len(compared)} of {len(found)} versions were compared with known vulnerabilities")
    if not compared:
        print("nothing that answers was reached; run `make audit` where there is a network")
    known = [(package, entry) for package in compared for entry in package["vulns"]]
    for package, entry in known:
        fixed = ", ".join(entry["fix_versions"]) or "no version"
        print(f"{package['name']} {package['version']}: {entry['id']}, fixed in {fixed}; {ADVICE}")
    return int(bool(known))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
