"""tiktoken's formats: `.tiktoken` rank files, and conversion from and to `Encoding` objects.

A rank file has one line a token: its bytes in Base64, and its rank. The pattern and the special tokens are in code.
An `Encoding` holds tokens, ranks, the pattern and special tokens. It can't hold merges (they follow from the ranks), a
normalizer, a post-processor, or ids that differ from ranks. tiktoken drops text between the matches of a pattern, so a
pattern that may leave gaps, such as that of superwords, gets an alternative that matches them.

Chapter: Matching GPT-2 and GPT-4. Source: tiktoken `load.py`, `core.py`.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

from ..core.spec import TokenizerSpec
from ..errors import ConversionError, MissingDependencyError, ModelError, TokenizerFileError
from ..model import disk_cache
from ..model.bpe import BPEModel
from ..regex.patterns import covering_pattern, without_covering
from ..vocab.special_tokens import SpecialTokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from tiktoken import Encoding as Encoding  # noqa: PLC0414 - for tokenizer.py

MAX_RANK = (1 << 32) - 1
NEVER_MERGED = "tiktoken encodes a piece that is a token as that token, and here no merges make the token {!r}"
EMPTY = b"="
"""How a file writes an empty token, such as Whisper's, whose Base64 is empty."""
END_OF_TEXT = "<|endoftext|>"
"""The token whose id tiktoken calls `eot_token`."""


def import_tiktoken() -> ModuleType:
    """Return the module tiktoken, even if `bpelab.tiktoken` has replaced it in `sys.modules`.

    Raises MissingDependencyError if it isn't installed.
    """
    try:
        import tiktoken

        original: ModuleType | None = vars(tiktoken).get("original", tiktoken)
        if original is None:
            raise ImportError("bpelab.tiktoken is in its place")
    except ImportError as error:
        from .._support.install import install_command

        raise MissingDependencyError(f"tiktoken is not installed: {install_command('tiktoken')}") from error
    return original


def read_ranks(path: str | Path) -> dict[bytes, int]:
    """Return token -> rank from a `.tiktoken` file. Raises TokenizerFileError naming the wrong line."""
    import base64
    import binascii
    from pathlib import Path

    from .._support.json_document import read_bytes

    ranks: dict[bytes, int] = {}
    seen: dict[int, int] = {}
    lines = read_bytes(Path(path)).split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            encoded, rank_text = line.split()
            token = b"" if encoded == EMPTY else base64.b64decode(encoded, validate=True)
            rank = int(rank_text)
        except (ValueError, binascii.Error):
            raise TokenizerFileError(
                path, f"line {number}", f"expected a token in Base64, a space and a rank, found {str(line[:60])[1:]}"
            ) from None
        if not 0 <= rank <= MAX_RANK or not rank_text.isdigit():
            raise TokenizerFileError(path, f"line {number}", f"a token has a rank from 0 to {MAX_RANK}")
        if token in ranks or rank in seen:
            other = seen.get(rank) or seen[ranks[token]]
            raise TokenizerFileError(path, f"line {number}", f"repeats the token or the rank of line {other}")
        ranks[token], seen[rank] = rank, number
    if not ranks:
        raise TokenizerFileError(path, "", "holds no token; a .tiktoken file has one in each line")
    return ranks


def may_match(start: bytes) -> bool:
    """Return whether a file that starts with these bytes may list ranks, as Llama 3's `tokenizer.model` does.

    >>> may_match(b"IQ== 0\\nIg== 1\\n"), may_match(b"minbpe v1\\n")
    (True, False)
    """
    import re

    return re.match(rb"[A-Za-z0-9+/]{2,}={0,2} \d+\r?\n", start) is not None


def save_ranks(spec: TokenizerSpec, path: str | Path) -> None:
    """Write a `.tiktoken` file. Raises ConversionError if tiktoken's rule would give other ids."""
    import base64
    from pathlib import Path

    from .._support.textio import write_atomically

    ranks = rank_table(spec)
    listed = sorted(ranks.items(), key=lambda item: item[1])
    lines = ((base64.b64encode(token) or EMPTY) + b" %d\n" % rank for token, rank in listed)
    write_atomically(Path(path), b"".join(lines))


def from_tiktoken(name_or_encoding: str | Encoding) -> TokenizerSpec:
    """Return the tokenizer of an Encoding: tiktoken's or `bpelab.tiktoken`'s object, its name, or a model's name.

    Raises MissingDependencyError without tiktoken, ValueError for a name that tiktoken doesn't know.
    """
    if isinstance(name_or_encoding, str) and (found := _cached(name_or_encoding)) is not None:
        return spec_of_ranks(*found)
    if isinstance(name_or_encoding, str):
        return _by_name(encoding_name(name_or_encoding))
    encoding = name_or_encoding
    # an Encoding's parts are private attributes; tiktoken's own documentation uses them to extend encodings
    if not all(hasattr(encoding, part) for part in ("_mergeable_ranks", "_pat_str", "_special_tokens")):
        raise TypeError(f"expected the name of an encoding or an Encoding, not {type(encoding).__name__}")
    ranks, pattern, special = encoding._mergeable_ranks, encoding._pat_str, encoding._special_tokens  # noqa: SLF001
    return spec_of_ranks(BPEModel.from_ranks(ranks), pattern, special)


def encoding_name(name: str) -> str:
    """Return the name of an encoding, given that name or the name of a model that uses it.

    Raises ValueError for a name that tiktoken doesn't know.

    >>> encoding_name("gpt-4o"), encoding_name("cl100k_base")
    ('o200k_base', 'cl100k_base')
    """
    tiktoken = import_tiktoken()
    encodings = tiktoken.list_encoding_names()
    if name in encodings:
        return name
    try:
        found: str = tiktoken.encoding_name_for_model(name)
        return found
    except KeyError:
        from .._support.nearest_name import nearest

        suggestion = nearest(name, [*encodings, *tiktoken.model.MODEL_TO_ENCODING])
        advice = f"did you mean {suggestion}?" if suggestion else f"its encodings are {', '.join(encodings)}"
        raise ValueError(f"tiktoken knows no encoding and no model {name!r}: {advice}") from None


def _cache_key(name: str) -> str | None:
    """Return the disk cache key of one of tiktoken's own encodings, or None if tiktoken isn't installed.

    It depends on tiktoken's file that defines the encodings. The file is read, not imported, which would take 60 ms.
    """
    if sys.modules.get("tiktoken_ext", True) is None:  # None means that importing it is blocked
        return None
    extensions = PathFinder.find_spec("tiktoken_ext")  # importlib.util's find_spec takes 3 ms to import
    folders = None if extensions is None else extensions.submodule_search_locations
    found = None if folders is None else PathFinder.find_spec("tiktoken_ext.openai_public", folders)
    if found is None or found.origin is None:
        return None
    with open(found.origin, "rb") as source:
        return disk_cache.fingerprint(b"tiktoken", source.read(), name.encode())


def _cached(name: str) -> tuple[BPEModel, str, dict[str, int]] | None:
    """Return the model, pattern and special tokens of one of tiktoken's own encodings from the cache, or None."""
    key = _cache_key(name)
    if key is None or (entry := disk_cache.fetch(key)) is None:
        return None
    model, extra = entry
    pattern, *special = extra.decode().split("\0")
    return model, pattern, dict(zip(special[::2], map(int, special[1::2])))


def _by_name(name: str) -> TokenizerSpec:
    """Return an encoding by its name, through the cache if it is one of tiktoken's own."""
    tiktoken = import_tiktoken()
    from tiktoken_ext import openai_public

    if name not in openai_public.ENCODING_CONSTRUCTORS:
        return from_tiktoken(tiktoken.get_encoding(name))
    if (found := _cached(name)) is not None:  # the caller gave the name of a model
        return spec_of_ranks(*found)
    parts = openai_public.ENCODING_CONSTRUCTORS[name]()  # the parts of an Encoding; creating one would take longer
    model = BPEModel.from_ranks(parts["mergeable_ranks"])
    if (key := _cache_key(name)) is not None:
        special = [str(part) for token in parts["special_tokens"].items() for part in token]
        disk_cache.store(key, model, "\0".join([parts["pat_str"], *special]).encode())
    return spec_of_ranks(model, parts["pat_str"], parts["special_tokens"])


def spec_of_ranks(model: BPEModel, pattern: str, special: dict[str, int]) -> TokenizerSpec:
    """Return the tokenizer equivalent to an Encoding with these parts."""
    # o200k_harmony has two names for 200018
    tokens = SpecialTokens(special, aliases=True)
    eos = END_OF_TEXT if END_OF_TEXT in special else None
    return TokenizerSpec(model, pattern=without_covering(pattern), special_tokens=tokens, eos_token=eos)


def load_ranks(path: Path, pattern: str | None) -> TokenizerSpec:
    """Return the tokenizer of a `.tiktoken` file, which splits text with `pattern`.

    With None, a file with a known hash gets the pattern and normal form published with it, and a warning says so.
    Raises TokenizerFileError.
    """
    from .._support.json_document import read_bytes

    content, normalizer = read_bytes(path), None
    if pattern is None:
        pattern, normalizer = _published_with(path, content)
    pattern = without_covering(pattern)
    key = disk_cache.fingerprint(b"ranks", content)
    cached = disk_cache.fetch(key)
    if cached is not None:
        return TokenizerSpec(cached[0], pattern=pattern, normalizer=normalizer)
    try:
        model = BPEModel.from_ranks(read_ranks(path))
    except ModelError as error:
        raise TokenizerFileError(path, "", str(error)) from error
    disk_cache.store(key, model)
    return TokenizerSpec(model, pattern=pattern, normalizer=normalizer)


def _published_with(path: Path, content: bytes) -> tuple[str, str | None]:
    """Return the pattern and normal form of a published file, with a warning. Raises TokenizerFileError for others."""
    import warnings

    from .published_ranks import PatternFromHash, published_ranks

    if (published := published_ranks(content)) is None:
        raise TokenizerFileError(path, "", 'holds no pattern: name the one to split with, as in pattern="cl100k"')
    text = f"text in {published.normalizer}" if published.normalizer else "text"
    warnings.warn(
        f"{path.name} is the vocabulary of {published.name} by its hash, so {text} is split with "
        f'pattern="{published.pattern}"; name a pattern to be sure',
        PatternFromHash,
        stacklevel=2,
    )
    return published.pattern, published.normalizer


def rank_table(spec: TokenizerSpec) -> dict[bytes, int]:
    """Return token -> rank for which tiktoken's rule gives the same ids. Raises ConversionError if there is none."""
    from ..model.merge_recovery import merges_by_ids

    model = spec.model
    if spec.normalizer is not None:
        raise ConversionError(f"tiktoken has no normalizer, and this tokenizer uses {spec.normalizer}")
    if not model.covers_utf8 or (spec.pre_tokenizer is not None and spec.pattern is None):
        raise ConversionError("tiktoken can hold byte-level tokenizers with one pattern only")
    if not merges_by_ids(model):
        _refuse_other_merges(model)
    if not model.ignore_merges and (token := _never_merged(model)) is not None:
        raise ConversionError(NEVER_MERGED.format(token))
    return {**model.ids, **missing_bytes(spec)}


def _refuse_other_merges(model: BPEModel) -> None:
    """Raise ConversionError if the merges aren't in the order of the ids, or if ranks would merge more."""
    from ..model.merge_recovery import pair_only_ranks_merge

    recovered_merges = model.recovered_merges
    if not recovered_merges.exact:
        raise ConversionError("tiktoken can't hold this: some tokens rank before their parts, or no merge makes them")
    merged = list(recovered_merges.splits)
    if merged != sorted(merged):
        at = next(i for i, (a, b) in enumerate(zip(merged, merged[1:])) if a > b)
        raise ConversionError(
            f"tiktoken's ids are its ranks, but the token {merged[at]} merges before {merged[at + 1]} here"
        )
    if recovered_merges.unreachable and (more := pair_only_ranks_merge(model)) is not None:
        raise ConversionError(f"by ranks {more[0]!r} and {more[1]!r} would merge, and here they don't")


def _never_merged(model: BPEModel) -> bytes | None:
    """Return a token that merging its own bytes doesn't produce, or None."""
    from ..encoders.heap import HeapEncoder

    if model.recovered_merges.exact:
        return next((model.tokens[token_id] for token_id in model.recovered_merges.unreachable), None)
    encode = HeapEncoder(model).encode_piece
    return next((token for token_id, token in model.tokens.items() if encode(token) != [token_id]), None)


def missing_bytes(spec: TokenizerSpec) -> dict[bytes, int]:
    """Return the bytes without a token -> free ids. tiktoken needs all 256 bytes, though these never occur in text.

    >>> from bpelab import BPETokenizer
    >>> missing_bytes(BPETokenizer.train("low low", 258).spec)
    {}
    """
    alphabet = spec.model.alphabet
    missing = [unit for unit in map(bytes, zip(range(256))) if unit not in alphabet]
    return dict(zip(missing, range(spec.n_vocab, spec.n_vocab + len(missing))))


def to_tiktoken(spec: TokenizerSpec, name: str) -> Encoding:
    """Return a tiktoken Encoding with the same ids; see `BPETokenizer.to_tiktoken`."""
    encoding: Encoding = import_tiktoken().Encoding(
        name=name,
        pat_str=covering_pattern(spec.pattern),
        mergeable_ranks=rank_table(spec),
        special_tokens=dict(spec.special_tokens.ids),
    )
    return encoding
