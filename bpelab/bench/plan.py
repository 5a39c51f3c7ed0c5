"""Plans: how much is measured with `--quick`, by default, and with `--full`."""

from dataclasses import dataclass, replace

from .isolated_measures import PATHOLOGICAL

SECTIONS = ("encode", "calls", "batch", "decode", "load", "fresh", "memory", "pathological", "train", "superwords")


@dataclass(frozen=True)
class Plan:
    """The sizes and counts of a run.

    Attributes:
        sections: some of SECTIONS.
        encodings: the first one gets every measure, the others only those of encoding, unless `everything`.
        rounds: of the paired measures; `cold_rounds` of those with a fresh object each, `load_rounds` of loading.
        part: bytes of a text in one round. bpe-openai takes no text of more than 200,000 tokens.
        batch: bytes of a batch.
        fresh: bytes of the files that are encoded in a fresh process, besides a few words.
        memory: bytes of the text for which memory is measured.
        pathological: the names of the inputs, and `pathological_bytes` each.
        train: (bytes of text, tokens to learn); `superwords` likewise, of generated text and with superwords.
        seconds: how long a library may take for one call; `pathological_seconds` for a pathological input.
        texts: how many of the texts are used; 0 for all.
    """

    sections: tuple[str, ...] = SECTIONS
    encodings: tuple[str, ...] = ("cl100k_base", "o200k_base", "superwords")
    everything: bool = False
    rounds: int = 5
    cold_rounds: int = 3
    load_rounds: int = 2
    part: int = 400_000
    batch: int = 2_000_000
    fresh: tuple[int, ...] = (1_000_000, 10_000_000)
    memory: int = 16_000_000
    pathological: tuple[str, ...] = tuple(PATHOLOGICAL)
    pathological_bytes: int = 1_000_000
    train: tuple[tuple[int, int], ...] = ((10_000_000, 8192),)
    superwords: tuple[tuple[int, int], ...] = ((10_000_000, 16_384),)
    seconds: float = 60
    pathological_seconds: float = 10
    texts: int = 0

    @property
    def characters(self) -> int:
        """The maximum number of characters read of each text."""
        return max(self.memory, self.batch * (self.rounds + 4), *(size for size, _ in self.train))


DEFAULT = Plan()
QUICK = replace(
    DEFAULT,
    sections=tuple(name for name in SECTIONS if name not in ("batch", "fresh", "memory")),
    encodings=("cl100k_base",),
    rounds=3,
    cold_rounds=1,
    load_rounds=1,
    part=200_000,
    batch=400_000,
    memory=4_000_000,
    pathological=("one letter", "random letters"),
    train=((1_000_000, 1024),),
    superwords=((1_000_000, 2048),),
    seconds=20,
    pathological_seconds=3,
    texts=1,
)
FULL = replace(
    DEFAULT,
    encodings=("cl100k_base", "o200k_base", "gpt2", "superwords"),
    everything=True,
    rounds=15,
    cold_rounds=7,
    load_rounds=7,
    train=((10_000_000, 8192), (100_000_000, 32_768)),
    superwords=((10_000_000, 16_384), (1_000_000_000, 128_000)),
    seconds=300,
    pathological_seconds=60,
)
