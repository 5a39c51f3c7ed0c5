"""Plans: how much to measure with `--quick`, by default, and with `--full`; and the jobs of worker processes.

A step is one row of a table; a job is the steps of one process.
"""

from dataclasses import dataclass, field, replace

from .texts import PATHOLOGICAL
from .vocabularies import Vocabulary

SECTIONS = ("encode", "calls", "batch", "decode", "load", "fresh", "memory", "pathological", "train", "superwords")


@dataclass(frozen=True)
class Plan:
    """The sizes and counts of a run.

    Attributes:
        sections: some of SECTIONS.
        encodings: the first one gets every measure, the others only the encoding measures, unless `everything`.
        rounds: of the paired measures; `cold_rounds` of those with a fresh object each, `load_rounds` of loading.
        part: bytes of a text in one round. bpe-openai accepts no text of more than 200,000 tokens.
        batch: bytes of a batch.
        fresh: bytes of the files to encode in a fresh process, besides a few words.
        memory: bytes of the text for measuring memory.
        pathological: the names of the inputs, of `pathological_bytes` each.
        train: (bytes of text, tokens to learn); `superwords` likewise, on generated text and with superwords.
        seconds: the time limit of one call; `pathological_seconds` for a pathological input.
        texts: how many of the texts to use; 0 for all.
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
        """The maximum number of characters to read from each text."""
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
    train=((10_000_000, 8192), (100_000_000, 32_768), (1_000_000_000, 65_536)),
    superwords=((10_000_000, 16_384), (1_000_000_000, 128_000)),
    seconds=300,
    pathological_seconds=60,
)


@dataclass(frozen=True)
class Step:
    """One thing to measure.

    Attributes:
        measure: "check", "cold", "warm", "calls", "lines", "documents", "batch", "decode", "load", "fresh", "memory",
            "pathological", "train", "superwords".
        text: the name of a text or a pathological input.
        output: one of `library.CALLS`; "" for measures that have only one kind of call.
        threads: the maximum number of threads.
    """

    measure: str
    text: str
    output: str = ""
    threads: int = 1

    @property
    def capability(self) -> str:
        """What a library needs for this step, for `Library.supports`."""
        return self.measure if self.measure in ("fresh", "train", "superwords") else self.output or "list"

    @property
    def batch(self) -> bool:
        """Whether the step encodes batches."""
        return self.output.startswith("batch")

    @property
    def text_file(self) -> str:
        """The key of its text in `Job.text_files`: batches have larger parts of the same text."""
        return f"{self.text}, batches" if self.batch else self.text


@dataclass(frozen=True)
class Job:
    """The work of one process: every step, for all libraries.

    Attributes:
        text_files: `Step.text_file` -> a JSON file with the strings to encode, "warm" and "parts"; or, for training and
            fresh processes, a text file.
        folder: the folder of files that processes share: expected ids, learned tokens.
        seconds: the time limit of one call.
        threads: how many processors the process is pinned to.
        memory_limit: the limit of the process's address space in bytes; None for no limit.
        excluded: (library, step) pairs to skip, because they differed, failed or crashed before.
        values: numbers that a measure needs, such as the size of a vocabulary.
        round_index: the round, if each one is a job of its own.
        keep: whether its samples are recorded.
    """

    vocabulary: Vocabulary
    peers: list[str]
    steps: list[Step]
    text_files: dict[str, str]
    folder: str
    seconds: float
    threads: int = 1
    memory_limit: int | None = None
    excluded: list[tuple[str, Step]] = field(default_factory=list)
    values: dict[str, int] = field(default_factory=dict)
    round_index: int | None = None
    keep: bool = True
