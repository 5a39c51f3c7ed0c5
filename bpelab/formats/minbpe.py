"""minbpe's format: a `.model` file and a human-readable `.vocab` listing.

The file has a version line, the pattern, the special tokens with their ids, and the merges as pairs of ids; the new
ids are 256, 257 and so on. It holds merges, pattern and special tokens. It can't hold ids in another order,
ignore_merges, a normalizer, a post-processor, or special tokens with white space, which the format doesn't escape. The
`.vocab` file shows invalid UTF-8 as U+FFFD, so only the `.model` file can be read back. minbpe drops text between the
matches of a pattern, so a pattern that may leave gaps is written with an alternative that matches them.

Chapter: File formats. Source: minbpe `base.py` (save, load), version line `minbpe v1`.
"""

from pathlib import Path

from .._support.json_document import read_bytes
from .._support.textio import write_all_atomically
from ..core.spec import TokenizerSpec
from ..errors import BPELabError, ConversionError, TokenizerFileError
from ..model.bpe import BPEModel
from ..regex.patterns import PATTERNS, covering_pattern, find_pattern, without_covering
from .listing import printable

VERSION = "minbpe v1"
VERSIONS = (VERSION, "bpe v1")
"""The first line of minbpe's files, and that of files from classes modelled on it."""
MAX_BYTES = 1 << 25
"""Limit on the total bytes of a file's tokens: a merge can double the longest, so forty lines could reach a
terabyte."""


def save(spec: TokenizerSpec, path: str | Path) -> None:
    """Write `path` (ending in .model) and its .vocab listing. Raises ConversionError for what the format can't hold."""
    path = Path(path)
    if path.suffix != ".model":
        raise ConversionError(f"minbpe's files end in .model, but this one would be {path}")
    merges = _merges(spec)
    pattern = spec.pattern or ""
    named_pattern = find_pattern(pattern) if pattern else None
    if named_pattern and named_pattern.cuts_words:
        pattern = named_pattern.oniguruma
    elif pattern:  # minbpe drops text that a pattern doesn't match
        pattern = covering_pattern(pattern)
    if spec.pattern in PATTERNS and "&&" in pattern:
        raise ConversionError(f"minbpe's engine takes the && in the pattern {spec.pattern!r} for two characters")
    if "\n" in pattern or "\r" in pattern:
        raise ConversionError("minbpe keeps the pattern on one line, but this one has a line break")
    lines = [VERSION, pattern, str(len(spec.special_tokens.ids))]
    for name, token_id in spec.special_tokens.ids.items():
        if len(name.split()) != 1 or name.split()[0] != name:
            raise ConversionError(f"minbpe can't hold the special token {name!r}: it has white space in it")
        lines.append(f"{name} {token_id}")
    lines += [f"{left} {right}" for left, right in merges]
    model = ("\n".join(lines) + "\n").encode()
    write_all_atomically({path: model, path.with_suffix(".vocab"): _listing(spec).encode()})


def _merges(spec: TokenizerSpec) -> list[tuple[int, int]]:
    model, recovered_merges = spec.model, spec.model.recovered_merges
    if not model.is_byte_level:
        raise ConversionError("minbpe's tokenizers start from all 256 bytes, but this one doesn't")
    if spec.pre_tokenizer is not None and spec.pattern is None:
        raise ConversionError(f"minbpe splits text with one pattern, but this tokenizer uses {spec.pre_tokenizer}")
    if spec.normalizer is not None or spec.post_processor is not None:
        raise ConversionError("minbpe can hold neither a normalizer nor a post-processor")
    if recovered_merges.early or recovered_merges.unreachable:
        raise ConversionError("minbpe can't hold this model: it has tokens that no list of merges makes")
    if model.byte_ids != tuple(range(256)) or list(recovered_merges.splits) != list(
        range(256, 256 + len(recovered_merges.splits))
    ):
        raise ConversionError("minbpe numbers the bytes from 0 and the merges from 256, but the ids here differ")
    return list(recovered_merges.splits.values())


def _listing(spec: TokenizerSpec) -> str:
    tokens, splits = spec.model.tokens, spec.model.recovered_merges.splits

    def show(token_id: int) -> str:
        return f"[{printable(tokens[token_id])}]"

    lines = []
    for token_id in sorted(tokens):
        parts = "".join(map(show, splits[token_id])) + " -> " if token_id in splits else ""
        lines.append(f"{parts}{show(token_id)} {token_id}\n")
    lines += [f"[{name}] {token_id}\n" for name, token_id in spec.special_tokens.ids.items()]
    return "".join(lines)


def matches(start: bytes) -> bool:
    """Return whether a file that starts with these bytes is from minbpe, or from a class modelled on it."""
    return start.partition(b"\n")[0].rstrip(b"\r").decode("latin-1") in VERSIONS


def load(path: str | Path) -> TokenizerSpec:
    """Read a minbpe `.model` file. Raises TokenizerFileError naming the wrong line."""
    path = Path(path)
    if path.suffix == ".vocab":
        raise TokenizerFileError(
            path, "", "minbpe's tokenizers are read from the .model file; the .vocab file has lost bytes"
        )
    try:
        lines = read_bytes(path).decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise TokenizerFileError(path, f"byte {error.start}", "is not UTF-8") from error

    def line(index: int) -> str:
        if index >= len(lines):
            raise TokenizerFileError(path, f"line {index + 1}", "is missing: the file ends early")
        return lines[index].removesuffix("\r")

    def parse_id(text: str, index: int) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise TokenizerFileError(path, f"line {index + 1}", f"expected an id, found {text[:40]!r}")
        return int(text)

    if line(0) not in VERSIONS:
        raise TokenizerFileError(path, "line 1", f"expected {VERSION!r}, found {line(0)[:40]!r}")
    pattern = None if line(1) in ("", "{}") else without_covering(line(1))
    count = parse_id(line(2), 2)
    special: dict[str, int] = {}
    for index in range(3, 3 + count):
        name, space, token_id = line(index).rpartition(" ")
        if not name or not space or name in special:
            raise TokenizerFileError(
                path, f"line {index + 1}", f"expected a new special token and its id, found {line(index)[:40]!r}"
            )
        special[name] = parse_id(token_id, index)
    tokens = [bytes([byte]) for byte in range(256)]
    merges, total = [], 0
    for index in range(3 + count, len(lines)):
        if not line(index) and index == len(lines) - 1:
            break
        parts = [parse_id(text, index) for text in line(index).split(" ")]
        if len(parts) != 2 or max(parts) >= len(tokens):
            raise TokenizerFileError(
                path, f"line {index + 1}", f"expected two ids below {len(tokens)}, found {line(index)[:40]!r}"
            )
        total += len(tokens[parts[0]]) + len(tokens[parts[1]])
        if total > MAX_BYTES:
            raise TokenizerFileError(
                path, f"line {index + 1}", f"its tokens have more than {MAX_BYTES:,} bytes together"
            )
        merges.append((tokens[parts[0]], tokens[parts[1]]))
        tokens.append(tokens[parts[0]] + tokens[parts[1]])
    try:
        model = BPEModel.from_merges(merges)
        if len(set(tokens)) < len(tokens):
            first = {token: index for index, token in reversed(list(enumerate(tokens)))}
            again = next(index for index, token in enumerate(tokens) if first[token] < index)
            problem = f"makes {tokens[again]!r} a second time, with another id; that can't be told from the first"
            raise TokenizerFileError(path, f"line {4 + count + again - 256}", problem)
        return TokenizerSpec(model, pattern=pattern, special_tokens=special)
    except TokenizerFileError:
        raise
    except BPELabError as error:
        raise TokenizerFileError(path, "", str(error)) from error
