"""GPT-2's two files: a vocabulary in JSON, and the merges as lines of text.

`encoder.json` and `vocab.bpe` are OpenAI's names, `vocab.json` and `merges.txt` Hugging Face's; the contents are alike,
in GPT-2's byte alphabet. Held: tokens with any ids, merges. Not held: the pattern, the normalizer, which tokens are
special, and whatever is put around a text. A `tokenizer_config.json` beside them may name a class whose pattern is
known; else the caller has to say it, since a wrong one gives other ids without an error.

A line is ended by a line feed and nothing else: U+0085 and U+2028 are characters that tokens may have.
Chapter: File formats. Source: gpt-2/src/encoder.py; transformers `models/gpt2/tokenization_gpt2.py`.
"""

import json
from pathlib import Path
from typing import Any

from ..byte_alphabet import BYTE_OF_CHAR, from_alphabet, to_alphabet
from ..errors import BPELabError, ConversionError, TokenizerFileError
from ..postprocessors import TemplateProcessing
from ..pretokenizers.patterns import PATTERNS
from ..special_tokens import ROLES
from ..textio import write_together
from ..tokenizer import BPETokenizer
from .huggingface import merge_pairs, read_config
from .json_file import JSONFile, read_bytes, shown
from .tokenizer_json import read_id, read_tokenizer

NAMES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
KNOWN_CLASSES = {"GPT2Tokenizer": ("gpt2", None), "Qwen2Tokenizer": ("qwen2", "NFC")}
"""tokenizer_class -> pattern, normalizer."""


def find_files(folder: Path) -> tuple[Path, Path] | None:
    """The two files in a folder, under either pair of names; None where they aren't."""
    pairs = ((folder / vocab, folder / merges) for vocab, merges in NAMES)
    return next(((vocab, merges) for vocab, merges in pairs if vocab.exists() and merges.exists()), None)


def load(folder: Path, *, pattern: str | None = None, encoder: str = "auto") -> BPETokenizer:
    """The tokenizer in a folder that has the two files.

    Special are the tokens that `tokenizer_config.json` or `added_tokens.json` list, and those of the vocabulary that
    are neither a byte nor made by a merge: no text could come out as them. Raises TokenizerFileError, also where the
    pattern can't be told and isn't given.
    """
    found = find_files(folder)
    if found is None:
        wanted = " or ".join(f"{vocab} with {merges}" for vocab, merges in NAMES)
        raise TokenizerFileError(folder, "", f"has no {wanted}")
    vocab_path, merges_path = found
    vocab_file = JSONFile(vocab_path)
    vocab, merges = vocab_file.data, _read_merges(merges_path)
    config_path = folder / "tokenizer_config.json"
    config = JSONFile(config_path).data if config_path.exists() else {}
    named = str(config.get("tokenizer_class", "")).removesuffix("Fast")
    if vocab_path.name == "encoder.json":
        named = named or "GPT2Tokenizer"
    known = KNOWN_CLASSES.get(named)
    if pattern is None and known is None:
        raise TokenizerFileError(
            folder, "", "these files don't say how text is split first; give pattern=, such as 'gpt2'"
        )
    prefixed = _says(config_path, config, "add_prefix_space")
    if prefixed and pattern is not None:
        raise TokenizerFileError(config_path, "add_prefix_space", f"can't be combined with pattern={pattern!r}")
    normalizer = None if pattern is not None or known is None or known[1] is None else {"type": known[1]}
    made = {left + right for left, right in merges}
    loose = [text for text in vocab if text not in made and not (len(text) == 1 and text in BYTE_OF_CHAR)]
    file = JSONFile(vocab_path, b"{}")
    file.data = {
        "added_tokens": _added(vocab_file, folder, loose, config),
        "normalizer": normalizer,
        "pre_tokenizer": _pre_tokenizer(pattern or (known[0] if known else ""), prefixed),
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
    }
    try:
        tokenizer = read_tokenizer(file, {"encoder": encoder, **read_config(folder)})
        around = _template(config_path, config, tokenizer) if pattern is None else None
        pre_tokenizer = {} if prefixed else {"pattern": pattern or (known[0] if known else None)}
        return tokenizer.with_options(post_processor=around, **pre_tokenizer)
    except TokenizerFileError as error:
        if error.path == str(config_path):
            raise
        where = error.where.replace("model.vocab", "")
        path = merges_path if error.where.startswith("model.merges") else vocab_path
        if error.where.startswith("model.merges["):
            where = f"merge {int(error.where[13:-1]) + 1}"
        if error.where.startswith("added_tokens[") and config_path.exists():
            path, where = config_path, "added_tokens_decoder" + error.where.partition("]")[2]
        raise TokenizerFileError(path, where, error.problem.replace("model.vocab", vocab_path.name)) from None
    except BPELabError as error:
        raise TokenizerFileError(folder, "", str(error)) from error


def _says(path: Path, config: dict[str, Any], key: str) -> bool:
    """What a switch in tokenizer_config.json says; one that is not there is off."""
    value = config.get(key)
    if value is not None and not isinstance(value, bool):
        raise TokenizerFileError(path, key, f"expected true or false, found {str(value)[:40]!r}")
    return bool(value)


def _pre_tokenizer(pattern: str, prefixed: bool) -> dict[str, Any]:
    """As the class builds it. Qwen2Tokenizer asks for the space before every piece, not only before the text."""
    if pattern == "gpt2":
        return {"type": "ByteLevel", "add_prefix_space": prefixed, "use_regex": True}
    last = {"type": "ByteLevel", "add_prefix_space": prefixed, "use_regex": False}
    if not prefixed:
        return last
    split = {"type": "Split", "pattern": {"Regex": PATTERNS[pattern].oniguruma}, "behavior": "Isolated"}
    return {"type": "Sequence", "pretokenizers": [split, last]}


def _template(path: Path, config: dict[str, Any], tokenizer: BPETokenizer) -> TemplateProcessing | None:
    """bos before a text and eos behind it, where the file says so."""
    around = ["$A"]
    for role in ("bos", "eos"):
        if _says(path, config, f"add_{role}_token"):
            name = getattr(tokenizer, f"{role}_token")
            if name is None:
                raise TokenizerFileError(path, f"add_{role}_token", f"is true, but there is no {role}_token")
            around = [name, *around] if role == "bos" else [*around, name]
    return TemplateProcessing(tuple(around)) if len(around) > 1 else None


def _read_merges(path: Path) -> list[list[str]]:
    try:
        lines = read_bytes(path).decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise TokenizerFileError(path, f"byte {error.start}", "is not UTF-8") from error
    merges = []
    for number, line in enumerate(lines, 1):
        text = line.removesuffix("\r")
        if not text or (number == 1 and text.startswith("#version")):
            continue
        parts = text.split(" ")
        if len(parts) != 2 or not all(parts):
            raise TokenizerFileError(path, f"line {number}", f"expected two tokens and a space, found {line[:60]!r}")
        merges.append(parts)
    return merges


def _added(file: JSONFile, folder: Path, loose: list[str], config: dict[str, Any]) -> list[dict[str, Any]]:
    """Entries as in a tokenizer.json: what the files list, and `loose` tokens of the vocabulary."""
    listed: dict[str, dict[str, Any]] = {}
    for text in loose:
        listed[text] = {"content": text, "id": file.data[text], "special": True}
    older = folder / "added_tokens.json"
    if older.exists():
        beside = JSONFile(older)
        for text, token_id in beside.data.items():
            listed[text] = {"content": text, "id": read_id(beside, token_id, repr(text[:60])), "special": True}
    key, path = "added_tokens_decoder", folder / "tokenizer_config.json"
    decoder = config.get(key)
    if decoder is not None and not isinstance(decoder, dict):
        raise TokenizerFileError(path, key, f"expected an object, found {shown(decoder)}")
    for written, entry in (decoder or {}).items():
        if not (isinstance(entry, dict) and written.isascii() and written.isdigit() and len(written) < 11):
            raise TokenizerFileError(
                path, key, f"expected objects by their ids, found {written[:40]!r}: {shown(entry)}"
            )
        name = entry.get("content")
        listed[name if isinstance(name, str) else shown(name)] = {**entry, "id": int(written)}
    for entry in listed.values():
        entry.pop("__type", None)
    return sorted(listed.values(), key=lambda entry: str(entry["id"]).rjust(20))


def save(tokenizer: BPETokenizer, folder: Path) -> None:
    """Write `vocab.json` and `merges.txt`. Raises ConversionError for what they can't hold."""
    model = tokenizer.model
    if model.units is not None and model.units.characters:
        raise ConversionError("vocab.json and merges.txt are for byte-level tokenizers")
    if tokenizer.pre_tokenizer is not None and tokenizer.pattern is None:
        raise ConversionError(
            f"vocab.json and merges.txt are opened with one pattern, and this tokenizer has {tokenizer.pre_tokenizer}"
        )
    loose = set(model.recovered.unreachable) - {token.id for token in tokenizer.added_tokens}
    if loose and not model.take_whole:
        raise ConversionError(
            f"in vocab.json a token that no merge makes is a special one, and {model.tokens[min(loose)]!r} is not"
        )
    if model.take_whole and model.recovered.unreachable:
        raise ConversionError(
            "vocab.json and merges.txt can't say that whole pieces are looked up first, and here they are"
        )
    vocab = {to_alphabet(token): token_id for token_id, token in model.tokens.items()}
    for token in tokenizer.added_tokens:
        if vocab.setdefault(token.content, token.id) != token.id:
            raise ConversionError(
                f"the vocabulary would mix up {token.content!r} with {from_alphabet(token.content)!r}"
            )
    ordered = dict(sorted(vocab.items(), key=lambda item: item[1]))
    lines = [f"{to_alphabet(model.tokens[a])} {to_alphabet(model.tokens[b])}\n" for a, b in merge_pairs(model)]
    folder.mkdir(parents=True, exist_ok=True)
    roles = {f"{role}_token": getattr(tokenizer, f"{role}_token") for role in ROLES}
    named = {role: name for role, name in roles.items() if name is not None}
    contents = {
        "vocab.json": json.dumps(ordered, ensure_ascii=False),
        "merges.txt": "#version: 0.2\n" + "".join(lines),
        "special_tokens_map.json": json.dumps(named, ensure_ascii=False, indent=2),
    }
    write_together({folder / name: text.encode() for name, text in contents.items()})
