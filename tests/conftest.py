"""What the tests share: where the reference material is, how much to run and for how long, small models and texts.

`BPELAB_SOAK=1` (set by `make soak`) runs the long counts; otherwise the same tests run on fewer inputs. Tables that the
library keeps go to a folder that lasts as long as the run: nobody's own is read or written.

A test marked `slow` (faults, forks, signals, clusters, or minutes) runs in `make test-all` and not in `make test`.
Every test has a time limit that only a hang reaches, 20 times what it takes or more: `timeout` in pyproject.toml, or
`SLOW` seconds for one marked `slow` or of a backend, or the number of its own mark `timeout`.
"""

import importlib.util
import lzma
import os
import random
import shutil
import signal
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

from bpelab import native
from bpelab.model import BPEModel

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
SOAK = os.environ.get("BPELAB_SOAK") == "1"
SLOW = 2_400
NOT_BUILT = "the extension was not built: no C compiler"
PUBLISHED_ONLY = "ignore:tokenizers 1.0"
"""For Python's -W: files whose pattern tokenizers 1.0 doesn't run are saved with a warning."""
NEED_C = tuple(f"bpelab.trainers.{name}." for name in ("native", "counting.native", "superwords.native_phrases"))
"""Modules whose docstrings have examples that need the extension."""
collect_ignore = ["conformance/peers"]  # other projects' tests, which tests/conformance/test_peers.py runs
ENCODINGS = ("gpt2", "r50k_base", "p50k_base", "cl100k_base", "o200k_base")

if (SHARED / "tiktoken-cache").is_dir():
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(SHARED / "tiktoken-cache"))

settings.register_profile(
    "bpelab",
    max_examples=5_000 if SOAK else 25 if "BPELAB_CORE" in os.environ else 100,  # fewer under a sanitizer
    deadline=None,
    derandomize=not SOAK,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("bpelab")


def load_script(path: Path) -> ModuleType:
    """A script that is in no package, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pytest_configure(config):
    """One folder of tables for the run; workers of pytest-xdist find it in the environment.

    A shell has what it runs in the background ignore Ctrl-C, and children inherit that; some tests press it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        os.environ["BPELAB_CACHE"] = tempfile.mkdtemp(prefix="bpelab-tests-")


def pytest_collection_modifyitems(items):
    """Run slow tests first, so that none is left over at the end; set their time limits, and in a soak those of all.

    The longest, which make environments and install into them, are the first of all.
    """
    items.sort(key=lambda item: (item.get_closest_marker("slow") is None, item.path.name != "test_readme.py"))
    for item in items:
        if native.extension() is None and item.name.startswith(NEED_C):
            item.add_marker(pytest.mark.skip(NOT_BUILT))
        marked = item.get_closest_marker("timeout")
        if SOAK:
            item.add_marker(pytest.mark.timeout(6 * 3_600), append=False)
        elif marked is None and (item.get_closest_marker("slow") or "backends" in item.path.parts):
            item.add_marker(pytest.mark.timeout(SLOW))


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ["BPELAB_CACHE"], ignore_errors=True)


def find_chromium(playwright) -> str | None:
    """The path of this machine's Chromium, or of Playwright's own, if there is one."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
    own = Path(playwright.chromium.executable_path)
    return next(filter(None, map(shutil.which, names)), str(own) if own.exists() else None)


@pytest.fixture(scope="module")
def browser():
    """A Chromium without a window, which asks nobody for anything of its own. CI has to have one."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        chromium = find_chromium(started)
        if chromium is None:
            leave = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
            leave(f"there is no Chromium here; to install one: {Path(sys.executable)} -m playwright install chromium")
        yield (
            opened := started.chromium.launch(
                executable_path=chromium,
                args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
                timeout=0,  # the time limit of the test is the only one, here and below: a busy machine is no failure
            )
        )
        opened.close()


def amount(short: int, full: int) -> int:
    """How many inputs to run: `full` in a soak, else `short`."""
    return full if SOAK else short


def needs_extension() -> None:
    """Skip a test, or a module, of what is in C where the extension wasn't built."""
    if native.extension() is None:
        pytest.skip(NOT_BUILT, allow_module_level=True)


def encoding(name: str):
    """tiktoken's encoding, or a skip that says why."""
    tiktoken = pytest.importorskip("tiktoken")
    try:
        return tiktoken.get_encoding(name)
    except Exception as error:
        pytest.skip(f"tiktoken's vocabulary {name} is neither cached nor reachable: {type(error).__name__}")


def shared(path: str) -> Path:
    """A file or folder of the reference material, or a skip that says why."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"the reference material {path} is not here")
    return found


@lru_cache(None)
def shared_text(name: str, limit: int | None = None) -> str:
    path = shared(f"texts/{name}")
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    text = data.decode("utf-8")
    return text if limit is None else text[:limit]


def random_merges(rng: random.Random, alphabet: bytes, size: int) -> list[tuple[bytes, bytes]]:
    """A hand-made list: any two tokens so far may merge, as no training would do it."""
    tokens = [bytes([byte]) for byte in alphabet]
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(size):
        pair = rng.choice(tokens), rng.choice(tokens)
        if pair not in merges and len(pair[0] + pair[1]) <= 12:
            merges.append(pair)
            tokens.append(pair[0] + pair[1])
    return merges


def random_ranks(rng: random.Random, alphabet: bytes, size: int) -> dict[bytes, int]:
    """A hand-made rank table: any strings, in any order, so that a token may rank before its parts."""
    tokens = {bytes(rng.choices(alphabet, k=rng.randint(2, 6))) for _ in range(size)}
    order = [bytes([byte]) for byte in range(256)] + sorted(tokens)
    numbers = list(range(len(order)))
    if rng.random() < 0.7:
        rng.shuffle(numbers)
    return dict(zip(order, numbers))


@pytest.fixture(scope="session")
def small_model() -> BPEModel:
    pairs = [(b"l", b"o"), (b"lo", b"w"), (b"e", b"r"), (b" ", b"low"), (b"e", b"s"), (b"es", b"t"), (b"a", b"a")]
    return BPEModel.from_merges([*pairs, (b"aa", b"aa"), (b"aa", b"a")])


SPICE = [
    "'s", "'LL", "'ſ", "'K", "don't", "  ", "   ", "\n", "\r\n", "\n\n", " \n ", "\t", "\xa0",
    "\u3000", "\u2028", "\x85", "\x1c", "\u200b", "\ufeff", "\0", "1", "123", "1234", "٣", "²", "Ⅷ",
    "½", "the", " the", "HTTPServer", "é", "e\u0301", "ß", "İ", "ǅ", "ʰ", "ª", "日本", "한국", "ภาษา",
    "नमस्ते", "שלום", "مرحبا", "😀", "👩‍👩‍👧", "🇺🇸", "️", "<|endoftext|>", "<|end", "...", "!?", "//",
    "/\n", "!\n\n", "_", "--", "\U00011380", "\U0003134a", "\u1c89", "\u0378", "\U000e0100",
    "\ue000", "\ud800", "\ud83d\ude00",
]  # fmt: skip


@lru_cache(1)
def boundary_characters() -> list[str]:
    """The first and the last character of every run of one general category, in Python's table and in ours."""
    import unicodedata

    from bpelab.unicode.tables import category

    out = []
    for code_point in range(1, 0x110000):
        if 0xD800 <= code_point < 0xE000:
            continue
        here, before = chr(code_point), chr(code_point - 1)
        if category(here) != category(before) or unicodedata.category(here) != unicodedata.category(before):
            out += [here] if 0xD800 <= code_point - 1 < 0xE000 else [before, here]
    return out


def fuzz_text(rng: random.Random) -> str:
    """A short text rich in what tokenizers get wrong."""
    parts: list[str] = []
    for _ in range(rng.choice((1, 2, 3, 5, 8, 13))):
        kind = rng.random()
        if kind < 0.45:
            parts.append(rng.choice(SPICE) * rng.choice((1, 1, 1, 2, 3, 9)))
        elif kind < 0.7:
            parts.append("".join(rng.choice(boundary_characters()) for _ in range(rng.randint(1, 4))))
        elif kind < 0.9:
            parts.append("".join(chr(rng.randrange(32, 127)) for _ in range(rng.randint(1, 9))))
        else:
            parts.append("".join(chr(rng.randrange(0x110000)) for _ in range(rng.randint(1, 3))))
    return "".join(parts)
