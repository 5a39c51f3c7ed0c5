"""Mutation testing: does a test fail when a line of the library is changed?

`make mutation` has mutmut change one thing at a time in the encoders, the trainers, special tokens, and streaming, and
run the tests below that reach it. A change that no test notices, a survivor, is the lack of a test, or changes nothing
that matters; `mutation_survivors.md` lists the second kind, each with its reason. Exits with 1 for a survivor that is
not listed. Names of groups as arguments run those alone.

mutmut leaves out decorated functions and what stands outside of functions. A mutant that never ends counts as killed.
A mutated function is called through another one: timings, and who a warning names as its caller, are no tests here.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import chdir
from pathlib import Path

from .mutation_served import served

HERE = Path(__file__).resolve().parent
SURVIVORS = HERE / "mutation_survivors.md"
PATIENCE, MORE = 2.0, 3.0
"""A mutant may take so many times as long as its tests and so many seconds; then it has no end."""
GROUPS = {
    "encoders": (["encoders/*"], ["encoders"], "not time_grows"),
    "special_tokens": (
        ["vocab/special_tokens.py"],
        ["vocab/test_special_tokens.py", "vocab/test_added_tokens.py"],
        "not time_grows",
    ),
    "trainers": (
        [f"trainers/{name}.py" for name in ("__init__", "counting/corpus", "incremental", "naive", "train")],
        [f"trainers/{name}.py" for name in (
            "counting/test_corpus", "test_learn", "test_learning", "test_naive", "test_trainers")],
        "not rustbpe and not hash_seed and not real_text and not names_its_caller",
    ),
    "parts": (
        [f"trainers/counting/{name}.py" for name in ("counters", "partition", "pre_token_counts", "spill_runs")],
        [f"trainers/counting/test_{name}.py" for name in ("counts", "parts", "distributed")],
        "test_counts or test_parts or tables or runs_in or any_size or windows or records or too_large or texts_of",
    ),
    "native_trainer": (
        ["trainers/native.py", "trainers/counting/native.py", "trainers/counting/pre_token_counts.py"],
        ["trainers/test_native.py"],
        "small_corp or runs_and or odd or kept or counted_as or behaviours or least or texts or often or sums",
    ),
    "distributed": (
        ["trainers/counting/distributed.py"],
        ["trainers/counting/test_distributed.py"],
        "rounds or tried_again or in_memory or cannot_be_read or not_there or spilled or dashboard or the_whole "
        "or how_parts or folder_of",
    ),
    "stream_encoding": (
        ["cli/stdin_stream.py", *(f"streaming/{name}.py" for name in (
            "added_token_search", "encoder", "pipeline", "pre_tokenizing")),
         "normalizers/replace_stage.py", "texts/stages.py", "texts/text_buffer.py"],
        ["streaming/test_cutting.py", "streaming/test_encoder.py", "texts/test_stages.py"],
        "not sentencepiece and not long_runs and not test_fuzz and not memory and not kits and not little",
    ),
    "stream_decoding": (
        ["streaming/decoder.py", "decoders/token_stages.py", "decoders/byte_fallback.py", "decoders/strip.py"],
        ["streaming/test_decoder.py", "texts/test_stages.py"],
        "not random_ids",
    ),
    "stream_places": (
        ["boundaries/dfa_pairs.py", "pretokenizers/boundary.py"],
        ["boundaries/test_safe_pairs.py", "boundaries/test_safe_places.py"],
        "test",
    ),
    "stream_sentencepiece": (
        ["normalizers/sentencepiece_stage.py"],
        ["normalizers/test_sentencepiece_stage.py"],
        "test",
    ),
}  # fmt: skip
"""Modules, the tests that are run for them, and which of these: quick ones, in one process, that tell no times."""
THREADED = ("distributed",)
"""Groups whose mutants are not tested in forks: see `mutation_served.py`."""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "BPELAB_SOAK")}
FRESH = '''
settings.register_profile("mutation", settings.default, phases=[Phase.generate])
settings.load_profile("mutation")


def pytest_runtest_setup(item):
    """What a module under test remembers would hide its changes from all tests but the first."""
    for module in [module for name, module in sys.modules.items() if name in {modules}]:
        for found in list(vars(module).values()):
            getattr(found, "cache_clear", int)()
'''
"""What is put behind conftest.py. Nor is an example made smaller that fails."""


def copied(folder: Path, group: str) -> None:
    """What mutmut needs, in a folder where it may write, and its settings for a group."""
    for name in ("bpelab", "tests", "tools"):
        shutil.copytree(HERE.parent / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE.parent / "pyproject.toml", folder)
    changed, tests, chosen = GROUPS[group]
    paths = [path for name in changed for path in (folder / "bpelab").glob(name)]
    modules = {".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__") for path in paths}
    with (folder / "tests" / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(f"\n\nimport sys\n\nfrom hypothesis import Phase\n{FRESH.replace('{modules}', repr(modules))}")
    settings = {
        "source_paths": ["bpelab"],
        "only_mutate": [f"bpelab/{name}" for name in changed],
        "pytest_add_cli_args": ["-p", "no:cacheprovider", "-k", chosen],
        "pytest_add_cli_args_test_selection": [f"tests/{name}" for name in tests],
    }
    lines = [f"{key}=\n" + "".join(f"    {value}\n" for value in values) for key, values in settings.items()]
    (folder / "setup.cfg").write_text(
        f"[mutmut]\ntimeout_multiplier={PATIENCE}\ntimeout_constant={MORE}\n" + "".join(lines)
    )


def mutmut(folder: Path, *words: str) -> str:
    """What a command of mutmut's prints."""
    program = [sys.executable, "-c", "from mutmut.__main__ import cli; cli()", *words]
    done = subprocess.run(program, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr)[-3_000:]
        raise RuntimeError(f"mutmut {' '.join(words)} ended with {done.returncode}:\n{said}")
    return done.stdout


def in_forks(folder: Path, group: str) -> dict[str, str]:
    """What becomes of each mutant."""
    mutmut(folder, "run", "--max-children", "1")
    lines = [line.split(": ") for line in mutmut(folder, "results", "--all", "true").splitlines() if ": " in line]
    return {name.strip(): status for name, status in lines}


def in_turn(folder: Path, group: str) -> dict[str, str]:
    """As `in_forks`, in one process."""
    _, tests, chosen = GROUPS[group]
    words = ["-p", "no:cacheprovider", "-k", chosen, *(f"tests/{name}" for name in tests)]
    return served(folder, words, ENVIRONMENT, PATIENCE, MORE)


def mutation(folder: Path, name: str) -> str:
    """A mutant as the list of survivors writes it: the function, its lines as they are, and as they were changed."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    found = re.fullmatch(r"(.+)\.x_?(\w+)__mutmut_\d+", name)
    assert found is not None, name
    with chdir(folder):
        path = Path(*found[1].split("."))
        lines = get_diff_for_mutant(name, path=path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
    before, after = (
        " ".join(line[1:].strip() for line in lines.splitlines() if line[:1] == sign and line[:3] != sign * 3)
        for sign in "-+"
    )
    return f"- {found[1]}.{found[2].strip('ǁ').replace('ǁ', '.')}: `{before}` → `{after}`"


def listed() -> dict[str, str]:
    """The survivors that have a reason."""
    lines = SURVIVORS.read_text(encoding="utf-8").splitlines() if SURVIVORS.exists() else []
    return {line.rpartition("`: ")[0] + "`": line.rpartition("`: ")[2] for line in lines if line.startswith("- ")}


def run(group: str) -> tuple[Counter[str], list[str]]:
    """How many mutants of a group became what, and those that survive."""
    with tempfile.TemporaryDirectory(prefix="bpelab-mutation-") as name:
        folder = Path(name)
        copied(folder, group)
        found = (in_turn if group in THREADED else in_forks)(folder, group)
        return Counter(found.values()), [
            mutation(folder, mutant) for mutant, status in found.items() if status not in ("killed", "timeout")
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
    explained = total.total() - killed - unexplained
    print(
        f"{total.total():,} mutants: {killed:,} killed, {explained:,} survive and are explained, "
        f"{unexplained:,} survive unexplained"
    )
    return bool(unexplained)


if __name__ == "__main__":
    raise SystemExit(main())
