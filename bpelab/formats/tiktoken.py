"""tiktoken: `.tiktoken` rank files, and `Encoding` objects both ways.

A rank file has a line for each token, its bytes in Base64 and its rank; the pattern and the special tokens live in
code. Held: tokens, ranks, pattern, special tokens. Not held: merges (they follow from the ranks), a normalizer, a
post-processor, ids that differ from ranks.

Chapter: Matching GPT-2 and GPT-4. Source: tiktoken `load.py`, `core.py`.
"""

from __future__ import annotations

from importlib.util import find_spec

from ..errors import ConversionError, MissingDependencyError, ModelError, TokenizerFileError
from ..model import BPEModel
from ..pretokenizers.patterns import find_pattern
from ..special_tokens import SpecialTokens
from ..tokenizer import BPETokenizer
from . import table_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    import tiktoken

HIGHEST_RANK = (1 << 32) - 1
END_OF_TEXT = "<|endoftext|>"
"""The token whose id tiktoken calls `eot_token`."""


def import_tiktoken() -> ModuleType:
    """The module tiktoken. Raises MissingDependencyError where it is not installed."""
    try:
        import tiktoken
    except ImportError as error:
        from ..install import install_command

        raise MissingDependencyError(f"tiktoken is not installed: {install_command('tiktoken')}") from error
    return tiktoken


def read_ranks(path: str | Path) -> dict[bytes, int]:
    """Token -> rank from a `.tiktoken` file. Raises TokenizerFileError naming the line that is wrong."""
    import base64
    import binascii
    from pathlib import Path

    from .json_file import read_bytes

    ranks: dict[bytes, int] = {}
    seen: dict[int, int] = {}
    lines = read_bytes(Path(path)).split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            encoded, rank_text = line.split()
            token, rank = base64.b64decode(encoded, validate=True), int(rank_text)
        except (ValueError, binascii.Error):
            raise TokenizerFileError(
                path, f"line {number}", f"expected a token in Base64, a space and a rank, found {str(line[:60])[1:]}"
            ) from None
        if not token or not 0 <= rank <= HIGHEST_RANK or not rank_text.isdigit():
            raise TokenizerFileError(
                path, f"line {number}", f"a token has at least one byte, and a rank from 0 to {HIGHEST_RANK}"
            )
        if token in ranks or rank in seen:
            other = seen.get(rank) or seen[ranks[token]]
            raise TokenizerFileError(path, f"line {number}", f"repeats the token or the rank of line {other}")
        ranks[token], seen[rank] = rank, number
    if not ranks:
        raise TokenizerFileError(path, "", "holds no token; a .tiktoken file has one in each line")
    return ranks


def save_ranks(tokenizer: BPETokenizer, path: str | Path) -> None:
    """Write a `.tiktoken` file. Raises ConversionError for a tokenizer whose ids are not tiktoken's rule."""
    import base64
    from pathlib import Path

    from ..textio import write_atomically

    ranks = _ranks(tokenizer)
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in sorted(ranks.items(), key=lambda kv: kv[1]))
    write_atomically(Path(path), b"".join(lines))


def from_tiktoken(name_or_encoding: str | tiktoken.Encoding, encoder: str = "auto") -> BPETokenizer:
    """The tokenizer of an Encoding, given itself, by its name or by that of a model.

    Raises MissingDependencyError without tiktoken, ValueError for a name that tiktoken doesn't know.
    """
    if isinstance(name_or_encoding, str) and (found := _kept(name_or_encoding)) is not None:
        return _tokenizer(*found, encoder)
    tiktoken = import_tiktoken()
    if isinstance(name_or_encoding, str):
        return _by_name(encoding_name(name_or_encoding), encoder)
    encoding = name_or_encoding
    if not isinstance(encoding, tiktoken.Encoding):
        raise TypeError(f"expected the name of an encoding or a tiktoken.Encoding, not {type(encoding).__name__}")
    model = BPEModel.from_ranks(encoding._mergeable_ranks)
    return _tokenizer(model, encoding._pat_str, encoding._special_tokens, encoder)


def encoding_name(name: str) -> str:
    """The name of an encoding, given itself or by a model's. Raises ValueError for one that tiktoken doesn't know.

    >>> encoding_name("gpt-4o"), encoding_name("cl100k_base")
    ('o200k_base', 'cl100k_base')
    """
    import tiktoken
    from tiktoken.model import MODEL_TO_ENCODING

    encodings = tiktoken.list_encoding_names()
    if name in encodings:
        return name
    try:
        return tiktoken.encoding_name_for_model(name)
    except KeyError:
        from ..nearest import nearest

        meant = nearest(name, [*encodings, *MODEL_TO_ENCODING])
        advice = f"did you mean {meant}?" if meant else f"its encodings are {', '.join(encodings)}"
        raise ValueError(f"tiktoken knows no encoding and no model {name!r}: {advice}") from None


def _key(name: str) -> str | None:
    """The name under which one of tiktoken's own encodings is kept; None where tiktoken isn't installed.

    What the encodings are, one file of tiktoken's says. It is read and not imported, which would take 60 ms.
    """
    found = find_spec("tiktoken_ext.openai_public") if find_spec("tiktoken_ext") else None
    if found is None or found.origin is None:
        return None
    with open(found.origin, "rb") as source:
        return table_cache.fingerprint(b"tiktoken", source.read(), name.encode())


def _kept(name: str) -> tuple[BPEModel, str, dict[str, int]] | None:
    """The model, pattern and special tokens of one of tiktoken's own encodings that was opened before."""
    key = _key(name)
    if key is None or (kept := table_cache.fetch(key)) is None:
        return None
    model, extra = kept
    pattern, *special = extra.decode().split("\0")
    return model, pattern, dict(zip(special[::2], map(int, special[1::2])))


def _by_name(name: str, encoder: str) -> BPETokenizer:
    """An encoding by its name, of which tiktoken's own ones are kept as tables."""
    import tiktoken
    from tiktoken_ext import openai_public

    if name not in openai_public.ENCODING_CONSTRUCTORS:
        return from_tiktoken(tiktoken.get_encoding(name), encoder)
    if (kept := _kept(name)) is not None:  # it was asked for by the name of a model
        return _tokenizer(*kept, encoder)
    parts = openai_public.ENCODING_CONSTRUCTORS[name]()  # what an Encoding is made of; making one would take longer
    model = BPEModel.from_ranks(parts["mergeable_ranks"])
    if (key := _key(name)) is not None:
        special = [str(part) for token in parts["special_tokens"].items() for part in token]
        table_cache.store(key, model, "\0".join([parts["pat_str"], *special]).encode())
    return _tokenizer(model, parts["pat_str"], parts["special_tokens"], encoder)


def _tokenizer(model: BPEModel, pattern: str, special: dict[str, int], encoder: str) -> BPETokenizer:
    # o200k_harmony has two names for 200018
    tokens = SpecialTokens(special, aliases=True)
    eos = END_OF_TEXT if END_OF_TEXT in special else None
    return BPETokenizer(model, pattern=pattern, special_tokens=tokens, eos_token=eos, encoder=encoder)


def load_ranks(path: Path, pattern: str, encoder: str = "auto") -> BPETokenizer:
    """The tokenizer of a `.tiktoken` file, split by `pattern`. Raises TokenizerFileError."""
    from .json_file import read_bytes

    content = read_bytes(path)
    key = table_cache.fingerprint(b"ranks", content)
    kept = table_cache.fetch(key)
    if kept is not None:
        return BPETokenizer(kept[0], pattern=pattern, encoder=encoder)
    try:
        model = BPEModel.from_ranks(read_ranks(path))
    except ModelError as error:
        raise TokenizerFileError(path, "", str(error)) from error
    table_cache.store(key, model)
    return BPETokenizer(model, pattern=pattern, encoder=encoder)


def _ranks(tokenizer: BPETokenizer) -> dict[bytes, int]:
    """Token -> rank such that tiktoken's rule gives the same ids. Raises ConversionError where there is none."""
    model, recovered = tokenizer.model, tokenizer.model.recovered
    if tokenizer.normalizer is not None:
        raise ConversionError(f"tiktoken has no normalizer, and this tokenizer uses {tokenizer.normalizer}")
    if not model.bytewise or (tokenizer.pre_tokenizer is not None and tokenizer.pattern is None):
        raise ConversionError("tiktoken can hold byte-level tokenizers with one pattern only")
    if not recovered.exact or (recovered.unreachable and not model.take_whole):
        raise ConversionError("tiktoken can't hold this: some tokens rank before their parts, or no merge makes them")
    merged = list(recovered.splits)
    if merged != sorted(merged):
        at = next(i for i, (a, b) in enumerate(zip(merged, merged[1:])) if a > b)
        raise ConversionError(
            f"tiktoken's ids are its ranks, but the token {merged[at]} merges before {merged[at + 1]} here"
        )
    return dict(model.ids)


def to_tiktoken(tokenizer: BPETokenizer, name: str) -> tiktoken.Encoding:
    """A tiktoken Encoding with the same ids; see `BPETokenizer.to_tiktoken`."""
    encoding: tiktoken.Encoding = import_tiktoken().Encoding(
        name=name,
        pat_str=_covering(tokenizer.pattern),
        mergeable_ranks=_ranks(tokenizer),
        special_tokens=tokenizer.special_tokens,
    )
    return encoding


def _covering(pattern: str | None) -> str:
    """The pattern such that it matches every character: tiktoken drops what a pattern leaves out."""
    if pattern is None:
        return r"(?s:.+)"
    if named := find_pattern(pattern):
        return named.regex
    return rf"{pattern}|(?s:(?:(?!{pattern}).)+)"
