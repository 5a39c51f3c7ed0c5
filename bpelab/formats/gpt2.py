"""GPT-2's two files: a vocabulary in JSON, and the merges as lines of text.

`encoder.json` and `vocab.bpe` are OpenAI's names, `vocab.json` and `merges.txt` Hugging Face's; the contents have the
same form, in GPT-2's byte alphabet. They hold tokens with any ids, and merges. They can't hold the pattern, the
normalizer, which tokens are special, and the post-processor. A `tokenizer_config.json` beside them may name a class
whose pattern is known. Otherwise the caller must name it, because a wrong pattern changes ids without an error.

Only a line feed ends a line; U+0085 and U+2028 may be part of tokens.
Chapter: File formats. Source: gpt-2/src/encoder.py; transformers `models/gpt2/tokenization_gpt2.py`.
"""

import json
from pathlib import Path
from typing import Any

from .._support.json_document import JSONFile, read_bytes
from .._support.textio import write_all_atomically
from ..core.spec import TokenizerSpec
from ..errors import BPELabError, ConversionError, TokenizerFileError
from ..model.merge_recovery import merge_pairs
from ..postprocessors import TemplateProcessing
from ..regex.patterns import PATTERNS
from ..unicode.byte_alphabet import BYTE_OF_CHAR, from_alphabet, to_alphabet
from ..vocab.special_tokens import ROLES
from .config_tokens import LISTED
from .huggingface import read_config
from .json_components import read_id
from .tokenizer_json import read_tokenizer

FILE_NAMES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
KNOWN_CLASSES = {"GPT2Tokenizer": ("gpt2", None), "Qwen2Tokenizer": ("qwen2", "NFC")}
"""tokenizer_class -> (pattern, normalizer)."""


def find_files(folder: Path) -> tuple[Path, Path] | None:
    """Return the two files in a folder, under either pair of names, or None if there is no pair."""
    pairs = ((folder / vocab, folder / merges) for vocab, merges in FILE_NAMES)
    return next(((vocab, merges) for vocab, merges in pairs if vocab.exists() and merges.exists()), None)


def load(folder: Path, *, pattern: str | None = None) -> TokenizerSpec:
    """Return the tokenizer in a folder that has the two files.

    Special tokens are those listed in `tokenizer_config.json` or `added_tokens.json`, and vocabulary entries that are
    neither a byte nor made by a merge, because no text could encode to them. Raises TokenizerFileError, also if the
    files don't name a pattern and none is passed.
    """
    paths = find_files(folder)
    if paths is None:
        wanted = " or ".join(f"{vocab} with {merges}" for vocab, merges in FILE_NAMES)
        raise TokenizerFileError(folder, "", f"has no {wanted}")
    vocab_path, merges_path = paths
    vocab_file = JSONFile(vocab_path)
    vocab, merges = vocab_file.data, _read_merges(merges_path)
    config_path = folder / "tokenizer_config.json"
    config = JSONFile(config_path).data if config_path.exists() else {}
    class_name = str(config.get("tokenizer_class", "")).removesuffix("Fast")
    if vocab_path.name == "encoder.json":
        class_name = class_name or "GPT2Tokenizer"
    class_pattern, class_normalizer = KNOWN_CLASSES.get(class_name, (None, None))
    if pattern is None and class_pattern is None:
        raise TokenizerFileError(folder, "", "these files don't say how text is split; give pattern=, such as 'gpt2'")
    add_prefix_space = _flag(config_path, config, "add_prefix_space")
    if add_prefix_space and pattern is not None:
        raise TokenizerFileError(config_path, "add_prefix_space", f"can't be combined with pattern={pattern!r}")
    normalizer = {"type": class_normalizer} if pattern is None and class_normalizer is not None else None
    merged = {left + right for left, right in merges}
    unmerged = [text for text in vocab if text not in merged and not (len(text) == 1 and text in BYTE_OF_CHAR)]
    options = read_config(folder)
    file = JSONFile(vocab_path, b"{}")
    file.data = {
        "added_tokens": _added_tokens(vocab_file, folder, unmerged, options.pop(LISTED)),
        "normalizer": normalizer,
        "pre_tokenizer": _pre_tokenizer(pattern or class_pattern or "", add_prefix_space),
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
    }
    try:
        spec = read_tokenizer(file, options)
        post_processor = _post_processor(config_path, config, spec) if pattern is None else None
        pre_tokenizer = {} if add_prefix_space else {"pattern": pattern or class_pattern}
        return spec.replace(post_processor=post_processor, **pre_tokenizer)
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


def _flag(path: Path, config: dict[str, Any], key: str) -> bool:
    """Return a boolean of tokenizer_config.json; False if it is missing."""
    value = config.get(key)
    if value is not None and not isinstance(value, bool):
        raise TokenizerFileError(path, key, f"expected true or false, found {str(value)[:40]!r}")
    return bool(value)


def _pre_tokenizer(pattern: str, add_prefix_space: bool) -> dict[str, Any]:
    """Return the pre-tokenizer as the class builds it, in JSON.

    Qwen2Tokenizer adds the space before every piece, not only before the text.
    """
    if pattern == "gpt2":
        return {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "use_regex": True}
    last = {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "use_regex": False}
    if not add_prefix_space:
        return last
    split = {"type": "Split", "pattern": {"Regex": PATTERNS[pattern].oniguruma}, "behavior": "Isolated"}
    return {"type": "Sequence", "pretokenizers": [split, last]}


def _post_processor(path: Path, config: dict[str, Any], spec: TokenizerSpec) -> TemplateProcessing | None:
    """Return the template that adds bos and eos as the file says, or None if it adds neither."""
    pieces = ["$A"]
    for role in ("bos", "eos"):
        if _flag(path, config, f"add_{role}_token"):
            name = spec.roles[role]
            if name is None:
                raise TokenizerFileError(path, f"add_{role}_token", f"is true, but there is no {role}_token")
            pieces = [name, *pieces] if role == "bos" else [*pieces, name]
    return TemplateProcessing(tuple(pieces)) if len(pieces) > 1 else None


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


def _added_tokens(
    file: JSONFile, folder: Path, unmerged: list[str], in_config: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return entries as in a tokenizer.json: the tokens that the files list, and the vocabulary's `unmerged` tokens."""
    listed: dict[str, dict[str, Any]] = {}
    for text in unmerged:
        listed[text] = {"content": text, "id": file.data[text], "special": True}
    added_path = folder / "added_tokens.json"
    if added_path.exists():
        added_file = JSONFile(added_path)
        for text, token_id in added_file.data.items():
            listed[text] = {"content": text, "id": read_id(added_file, token_id, repr(text[:60])), "special": True}
    listed |= {entry["content"]: entry for entry in in_config}
    return sorted(listed.values(), key=lambda entry: str(entry["id"]).rjust(20))


def save(spec: TokenizerSpec, folder: Path) -> None:
    """Write `vocab.json` and `merges.txt`. Raises ConversionError for what they can't hold."""
    model = spec.model
    if model.is_char_level:
        raise ConversionError("vocab.json and merges.txt are for byte-level tokenizers")
    if spec.pre_tokenizer is not None and spec.pattern is None:
        raise ConversionError(
            f"vocab.json and merges.txt are opened with one pattern, but this tokenizer has {spec.pre_tokenizer}"
        )
    unmerged = set(model.recovered_merges.unreachable) - {token.id for token in spec.special_tokens.tokens}
    if unmerged and not model.ignore_merges:
        raise ConversionError(
            f"in vocab.json a token that no merge makes is a special one, and {model.tokens[min(unmerged)]!r} is not"
        )
    if model.ignore_merges and model.recovered_merges.unreachable:
        raise ConversionError(
            "vocab.json and merges.txt can't say that whole pieces are looked up first, but here they are"
        )
    vocab = {to_alphabet(token): token_id for token_id, token in model.tokens.items()}
    for token in spec.special_tokens.tokens:
        if vocab.setdefault(token.content, token.id) != token.id:
            raise ConversionError(
                f"the vocabulary would mix up {token.content!r} with {from_alphabet(token.content)!r}"
            )
    ordered = dict(sorted(vocab.items(), key=lambda item: item[1]))
    lines = [f"{to_alphabet(model.tokens[a])} {to_alphabet(model.tokens[b])}\n" for a, b in merge_pairs(model)]
    folder.mkdir(parents=True, exist_ok=True)
    roles = {f"{role}_token": spec.roles[role] for role in ROLES}
    role_names = {role: name for role, name in roles.items() if name is not None}
    contents = {
        "vocab.json": json.dumps(ordered, ensure_ascii=False),
        "merges.txt": "#version: 0.2\n" + "".join(lines),
        "special_tokens_map.json": json.dumps(role_names, ensure_ascii=False, indent=2),
    }
    write_all_atomically({folder / name: text.encode() for name, text in contents.items()})
