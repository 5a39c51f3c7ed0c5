"""minbpe: a `.model` file, and the `.vocab` listing beside it for people.

The file has a version line, the pattern, the special tokens with their ids, and the merges as pairs of ids; the new
ids are 256, 257 and so on. Held: merges, pattern, special tokens. Not held: ids in another order, take_whole, a
normalizer, a post-processor, and special tokens with white space, which the format doesn't escape. The `.vocab` file
shows bytes that are no UTF-8 as U+FFFD, so a tokenizer can't be read back from it, only from the `.model`.

Chapter: File formats. Source: minbpe `base.py` (save, load), version line `minbpe v1`.
"""

from pathlib import Path

from ..errors import BPELabError, ConversionError, TokenizerFileError
from ..model import BPEModel
from ..pretokenizers.patterns import find_pattern
from ..textio import write_together
from ..tokenizer import BPETokenizer
from .json_file import read_bytes
from .readable import visible

VERSION = "minbpe v1"
VERSIONS = (VERSION, "bpe v1")
"""The first lines of its files, and of those of classes that were made after it."""
MAX_BYTES = 1 << 25
"""Bytes of all tokens of a file together. A merge can double the longest, so forty lines could ask for a terabyte."""


def save(tokenizer: BPETokenizer, path: str | Path) -> None:
    """Write `path` (ending in .model) and the listing beside it. Raises ConversionError for what can't be held."""
    path = Path(path)
    if path.suffix != ".model":
        raise ConversionError(f"minbpe's files end in .model, and this one would be {path}")
    merges = _merges(tokenizer)
    named = find_pattern(tokenizer.pattern) if tokenizer.pattern else None
    pattern = named.oniguruma if named else tokenizer.pattern or ""
    if "\n" in pattern or "\r" in pattern:
        raise ConversionError("minbpe keeps the pattern in one line, and this one has a line break")
    lines = [VERSION, pattern, str(len(tokenizer.special_tokens))]
    for name, token_id in tokenizer.special_tokens.items():
        if len(name.split()) != 1 or name.split()[0] != name:
            raise ConversionError(f"minbpe can't hold the special token {name!r}: it has white space in it")
        lines.append(f"{name} {token_id}")
    lines += [f"{left} {right}" for left, right in merges]
    model = ("\n".join(lines) + "\n").encode()
    write_together({path: model, path.with_suffix(".vocab"): _listing(tokenizer).encode()})


def _merges(tokenizer: BPETokenizer) -> list[tuple[int, int]]:
    model, recovered = tokenizer.model, tokenizer.model.recovered
    if not model.bytewise:
        raise ConversionError("minbpe's tokenizers start from all 256 bytes, and this one doesn't")
    if tokenizer.pre_tokenizer is not None and tokenizer.pattern is None:
        raise ConversionError(f"minbpe splits text with one pattern, and this tokenizer with {tokenizer.pre_tokenizer}")
    if tokenizer.normalizer is not None or tokenizer.post_processor is not None:
        raise ConversionError("minbpe can hold neither a normalizer nor a post-processor")
    if not recovered.exact or recovered.unreachable:
        raise ConversionError("minbpe can't hold this model: it has tokens that no list of merges makes")
    if model.byte_ids != tuple(range(256)) or list(recovered.splits) != list(range(256, 256 + len(recovered.splits))):
        raise ConversionError("minbpe numbers the bytes from 0 and the merges from 256, and the ids here are others")
    return list(recovered.splits.values())


def _listing(tokenizer: BPETokenizer) -> str:
    tokens, splits = tokenizer.model.tokens, tokenizer.model.recovered.splits

    def show(token_id: int) -> str:
        return f"[{visible(tokens[token_id])}]"

    lines = []
    for token_id in sorted(tokens):
        parts = "".join(map(show, splits[token_id])) + " -> " if token_id in splits else ""
        lines.append(f"{parts}{show(token_id)} {token_id}\n")
    lines += [f"[{name}] {token_id}\n" for name, token_id in tokenizer.special_tokens.items()]
    return "".join(lines)


def is_one(start: bytes) -> bool:
    """Whether a file that begins like this is one of minbpe's, or of a class made after it."""
    return start.partition(b"\n")[0].rstrip(b"\r").decode("latin-1") in VERSIONS


def load(path: str | Path, encoder: str = "auto") -> BPETokenizer:
    """Read a `.model` file of minbpe's. Raises TokenizerFileError naming the line that is wrong."""
    path = Path(path)
    if path.suffix == ".vocab":
        raise TokenizerFileError(
            path, "", "minbpe's tokenizers are read from the .model file; the .vocab file has lost bytes"
        )
    try:
        lines = read_bytes(path).decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise TokenizerFileError(path, f"byte {error.start}", "is not UTF-8") from error

    def line(number: int) -> str:
        if number >= len(lines):
            raise TokenizerFileError(path, f"line {number + 1}", "is missing: the file ends early")
        return lines[number].removesuffix("\r")

    def number_in(text: str, number: int) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise TokenizerFileError(path, f"line {number + 1}", f"expected an id, found {text[:40]!r}")
        return int(text)

    if line(0) not in VERSIONS:
        raise TokenizerFileError(path, "line 1", f"expected {VERSION!r}, found {line(0)[:40]!r}")
    pattern = None if line(1) in ("", "{}") else line(1)
    count = number_in(line(2), 2)
    special: dict[str, int] = {}
    for at in range(3, 3 + count):
        name, space, token_id = line(at).rpartition(" ")
        if not name or not space or name in special:
            raise TokenizerFileError(
                path, f"line {at + 1}", f"expected a new special token and its id, found {line(at)[:40]!r}"
            )
        special[name] = number_in(token_id, at)
    tokens = [bytes([byte]) for byte in range(256)]
    merges, total = [], 0
    for at in range(3 + count, len(lines)):
        if not line(at) and at == len(lines) - 1:
            break
        parts = [number_in(text, at) for text in line(at).split(" ")]
        if len(parts) != 2 or max(parts) >= len(tokens):
            raise TokenizerFileError(
                path, f"line {at + 1}", f"expected two ids below {len(tokens)}, found {line(at)[:40]!r}"
            )
        total += len(tokens[parts[0]]) + len(tokens[parts[1]])
        if total > MAX_BYTES:
            raise TokenizerFileError(path, f"line {at + 1}", f"its tokens have more than {MAX_BYTES:,} bytes together")
        merges.append((tokens[parts[0]], tokens[parts[1]]))
        tokens.append(tokens[parts[0]] + tokens[parts[1]])
    try:
        model = BPEModel.from_merges(merges)
        if len(set(tokens)) < len(tokens):
            first = {token: at for at, token in reversed(list(enumerate(tokens)))}
            again = next(at for at, token in enumerate(tokens) if first[token] < at)
            problem = f"makes {tokens[again]!r} a second time, with another id; that can't be told from the first"
            raise TokenizerFileError(path, f"line {4 + count + again - 256}", problem)
        return BPETokenizer(model, pattern=pattern, special_tokens=special, encoder=encoder)
    except TokenizerFileError:
        raise
    except BPELabError as error:
        raise TokenizerFileError(path, "", str(error)) from error
