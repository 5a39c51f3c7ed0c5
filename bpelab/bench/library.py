"""The interface to a measured library: the Python code that imports it, loads a vocabulary, and calls it.

The code is text, as in `timeit`: what is timed here, what a fresh process runs, and what a record says was called are
the same code. It sees what a vocabulary is (`Vocabulary.names`), NumPy as `np`, and the conversions below.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module, metadata
from importlib.util import find_spec
from inspect import getsource
from typing import TYPE_CHECKING, Any

from .. import __version__

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .vocabularies import Vocabulary

    Ids = NDArray[np.uint32]
    Batch = tuple[Ids, NDArray[np.signedinteger[Any]]]

Trainer = Callable[[str, int], set[bytes]]
"""A function that learns so many tokens from a UTF-8 file, and returns them."""
CALLS = ("list", "array", "batch list", "batch array", "decode list", "decode array")
"""What can be called: a text to ids, as a list or as a uint32 array; a batch of texts and a number of threads to rows
of ids, or to an array of all ids and one of offsets; and ids to text, from a list or from an array."""


class Unsupported(Exception):
    """Raised if a library can't load a vocabulary, or can't learn one; the message says why."""


@dataclass(frozen=True)
class Library:
    """A library, and how it is called in its fastest way.

    Attributes:
        name: its name in tables.
        imports: a statement that imports it.
        load: kind of vocabulary (one of `Vocabulary.kinds`) -> statements that assign `tokenizer`.
        calls: capability (one of CALLS) -> an expression of the function to call. A method of the library, without a
            `lambda`, takes no time of ours in a short call.
        refusal: why it can't load vocabularies of other kinds.
        package: the name to install, if it isn't `name`.
        late: modules that it would import when it is first used: they are imported before loading is timed.
        fresh: what stands for `imports` in a fresh process; None if it is too slow for one.
        part: it encodes 1 / `part` of each text; more than 1 if it is too slow for all of it.
        trainers: "train" or "superwords" -> the function with which it learns tokens, or superwords.
    """

    name: str
    imports: str
    load: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""
    package: str = ""
    late: Sequence[str] = ()
    fresh: str | None = ""
    part: int = 1
    trainers: Mapping[str, Trainer] = field(default_factory=dict)

    def version(self) -> str | None:
        """Return the version of the library's package, or None if it isn't installed."""
        package = self.package or self.name
        if package == "bpelab":
            return __version__  # the version of this code, even if it isn't installed
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return None

    def why_unavailable(self) -> str | None:
        """Return the reason that the library can't be measured here, or None if it can. Imports nothing of it."""
        if self.version() is None:
            return f"not installed: pip install {self.package or self.name}"
        return next((f"{module} is missing" for module in self.late if find_spec(module) is None), None)

    def supports(self, what: str) -> bool:
        """Return whether the library can do one of CALLS, "fresh", "train" or "superwords"."""
        if what == "fresh":
            return self.fresh is not None and "list" in self.calls
        return what in self.calls or what in self.trainers

    def described(self) -> dict[str, Any]:
        """Return the code that imports the library, loads each kind of vocabulary, and calls it, for a record."""
        trainers = {what: getsource(function) for what, function in self.trainers.items()}
        return {"import": self.imports, "load": dict(self.load), **self.calls, **trainers}

    def import_all(self) -> None:
        """Import NumPy, the library, and any modules that it would import later."""
        import_module("numpy")
        exec(self.imports, {})
        for module in self.late:
            import_module(module)

    def loading(self, vocabulary: "Vocabulary") -> str:
        """Return the statements that load a vocabulary. Raises Unsupported."""
        for kind in vocabulary.kinds:
            if kind in self.load:
                return self.load[kind]
        raise Unsupported(self.refusal)

    def open(self, vocabulary: "Vocabulary") -> "Peer":
        """Load a vocabulary. Raises Unsupported, or whatever the library raises."""
        import numpy as np

        names = {**vocabulary.names(), "np": np, "buffers": buffers, "awkward": awkward, "rows": rows}
        try:
            exec(f"{self.imports}\n{self.loading(vocabulary)}", names)
        except ValueError as error:
            raise Unsupported(f"refuses the file: {error}"[:120]) from error
        return Peer(self, {what: eval(code, names) for what, code in self.calls.items()})

    def program(self, vocabulary: "Vocabulary") -> str:
        """Return a program for a fresh process, which defines `encode`. Raises Unsupported."""
        names = "\n".join(f"{name} = {value!r}" for name, value in vocabulary.names().items())
        return f"{names}\n{self.fresh or self.imports}\n{self.loading(vocabulary)}\nencode = {self.calls['list']}\n"


@dataclass(frozen=True)
class Peer:
    """A library with a vocabulary loaded: `peer["list"](text)` returns ids."""

    library: Library
    functions: Mapping[str, Callable[..., Any]]

    def __getitem__(self, what: str) -> Callable[..., Any]:
        return self.functions[what]

    @property
    def name(self) -> str:
        return self.library.name

    @property
    def fastest(self) -> str:
        """The output of its fastest call for a text: "array" or "list"."""
        return "array" if "array" in self.functions else "list"


def buffers(ids: Any, offsets: Any) -> "Batch":
    """Return buffers of 32 and of 64 bits as arrays, without a copy."""
    import numpy as np

    return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64).view(np.int64)


def awkward(array: Any) -> "Batch":
    """Return the ids and the offsets of an awkward array."""
    return array.layout.content.data, array.layout.offsets.data


def rows(ids: Any, offsets: Any) -> list[list[int]]:
    """Return arrays of ids and of offsets as lists.

    >>> import numpy as np
    >>> rows(np.array([5, 6, 7]), np.array([0, 1, 3]))
    [[5], [6, 7]]
    """
    whole, ends = ids.tolist(), offsets.tolist()
    return [whole[begin:end] for begin, end in zip(ends, ends[1:])]
