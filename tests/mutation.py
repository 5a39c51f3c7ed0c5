"""Mutation testing: does a test fail when a line of the library is changed?

`make mutation` has mutmut change one thing at a time in the encoders, the trainers, special and added tokens, and
streaming, and run the tests below that reach it. A change that no test notices, a survivor, is either the lack of a test
or changes nothing that matters; `mutation_survivors.md` lists the second kind, each with its reason. Exits with 1 for a
survivor that isn't listed. Names of groups as arguments run those alone.

mutmut leaves out what stands outside of functions and decorated functions. What a mutant makes endless counts as killed.
Timings are no tests here: a mutated function is called through another one.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
SURVIVORS = HERE / "mutation_survivors.md"
SLOW = (
    "not time_grows and not begin_alike and not one_word and not rustbpe and not hash_seed and not memory and not kits"
)
GROUPS = {
    "encoders": (["bpelab/encoders/*"], ["tests/encoders"]),
    "special_tokens": (
        ["bpelab/special_tokens.py", "bpelab/added_tokens.py"],
        ["tests/test_special_tokens.py", "tests/test_added_tokens.py"],
    ),
    "trainers": (
        [f"bpelab/trainers/{name}.py" for name in ("__init__", "corpus", "incremental", "learn", "naive")],
        ["tests/trainers/test_trainers.py", "tests/trainers/test_learn.py"],
    ),
    "parts": (
        [f"bpelab/trainers/{name}.py" for name in ("counts", "parts", "runs")],
        [
            f"tests/trainers/test_distributed.py::{name}"
            for name in (
                "test_tables_are_cut_and_added", "test_runs_in_files_add_up_and_go_away",
                "test_parts_of_any_size_give_the_counts_of_the_whole", "test_windows_that_are_too_small_grow",
                "test_records_and_packed_files", "test_a_table_that_is_too_large_is_spilled",
                "test_texts_of_parts_have_special_tokens_in_them",
            )
        ],
    ),
    "streaming": (["bpelab/streaming/*"], ["tests/streaming"]),
}  # fmt: skip


def copied(folder: Path, group: str) -> None:
    """What mutmut needs, in a folder where it may write, and its settings for a group."""
    for name in ("bpelab", "tests"):
        shutil.copytree(HERE.parent / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE.parent / "pyproject.toml", folder)
    changed, tests = GROUPS[group]
    settings = {
        "source_paths": ["bpelab"],
        "only_mutate": changed,
        "pytest_add_cli_args": ["-p", "no:cacheprovider", "-k", SLOW],
        "pytest_add_cli_args_test_selection": tests,
    }
    lines = [f"{key}=\n" + "".join(f"    {value}\n" for value in values) for key, values in settings.items()]
    (folder / "setup.cfg").write_text("[mutmut]\n" + "".join(lines))


def mutmut(folder: Path, *words: str) -> str:
    """What a command of mutmut's prints. `make mutation` runs in an environment that has it."""
    program = [sys.executable, "-c", "from mutmut.__main__ import cli; cli()", *words]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"mutmut {' '.join(words)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    return done.stdout


def mutation(folder: Path, name: str) -> str:
    """A mutant as the list of survivors writes it: the function, the lines as they are, the lines as they were changed."""
    found = re.search(r"^(.*)\.(?:x_|x)?(\w+)__mutmut_\d+$", name)
    assert found is not None, name
    function = f"{found[1]}.{found[2].strip('ǁ').replace('ǁ', '.')}"
    lines = mutmut(folder, "show", name).splitlines()
    before, after = (
        " ".join(line[1:].strip() for line in lines if line[:1] == sign and line[:3] != sign * 3) for sign in "-+"
    )
    return f"- {function}: `{before}` → `{after}`"


def listed() -> dict[str, str]:
    """The survivors that have a reason."""
    lines = SURVIVORS.read_text(encoding="utf-8").splitlines() if SURVIVORS.exists() else []
    return {line.rpartition("`: ")[0] + "`": line.rpartition("`: ")[2] for line in lines if line.startswith("- ")}


def run(group: str) -> tuple[Counter[str], list[str]]:
    """How many mutants of a group became what, and those that survive."""
    with tempfile.TemporaryDirectory(prefix="bpelab-mutation-") as name:
        folder = Path(name)
        copied(folder, group)
        mutmut(folder, "run", "--max-children", "1")
        lines = [line.split(": ") for line in mutmut(folder, "results", "--all", "true").splitlines() if ": " in line]
        counts = Counter(status for _, status in lines)
        return counts, [
            mutation(folder, mutant.strip()) for mutant, status in lines if status not in ("killed", "timeout")
        ]


def main() -> int:
    known, unexplained, total = listed(), 0, Counter[str]()
    for group in sys.argv[1:] or GROUPS:
        counts, survivors = run(group)
        new = [survivor for survivor in survivors if survivor not in known]
        total += counts
        unexplained += len(new)
        print(f"{group}: {counts.total()} mutants, {dict(counts)}, {len(survivors) - len(new)} of them explained")
        print("\n".join(new), flush=True)
    killed = total["killed"] + total["timeout"]
    print(
        f"{total.total():,} mutants: {killed:,} killed, {total.total() - killed - unexplained:,} survive and are explained, "
        f"{unexplained:,} survive"
    )
    return bool(unexplained)


if __name__ == "__main__":
    raise SystemExit(main())
