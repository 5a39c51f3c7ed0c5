"""Hugging Face's format: a folder with `tokenizer.json` and `tokenizer_config.json`.

The format holds everything in a BPETokenizer, except tokens of a rank table that no merge list can make (those that
rank before their own parts), added tokens that share an id, and vocabularies in which an added token has the text of
another token.

Named patterns are written as Hugging Face's engine needs them (`NamedPattern.oniguruma`) and recognised when read.
`tokenizer_json` parses the file.

Chapter: File formats. Source: tokenizers `models/bpe/serialization.rs`, confirmed by experiment.
"""

import json
import re
from pathlib import Path
from typing import Any

from .._support.gc_paused import gc_paused
from .._support.json_document import JSONFile, read_bytes
from .._support.textio import write_all_atomically
from ..core.spec import TokenizerSpec
from ..errors import ConversionError
from ..model import disk_cache
from ..model.bpe import BPEModel, RankMerges
from ..pretokenizers.split import Split
from ..regex.patterns import find_pattern
from ..unicode.byte_alphabet import from_alphabet, to_alphabet
from ..vocab.added_tokens import AddedToken
from ..vocab.special_tokens import ROLES
from .json_components import portable_end, write_component, write_section
from .tokenizer_json import read_tokenizer

METADATA_KEYS = ("chat_template", "model_max_length", "padding_side", "truncation_side")
"""Entries of tokenizer_config.json that are read, besides the roles. The others don't matter, or name code to run."""


# -- reading -----------------------------------------------------------------------------------------------------------


def load(path: Path) -> TokenizerSpec:
    """Return the tokenizer in a folder, or in a tokenizer.json; see `BPETokenizer.from_pretrained`."""
    path = path / "tokenizer.json" if path.is_dir() else path
    return from_buffer(path, read_bytes(path), read_config(path.parent))


@gc_paused()  # a file may have a million added tokens, and each collection visits all their objects
def from_buffer(path: Path, content: bytes, options: dict[str, Any]) -> TokenizerSpec:
    """Return the specification in a tokenizer.json.

    `path` names the file in error messages; `options` are further arguments of TokenizerSpec.
    """
    name = disk_cache.fingerprint(b"tokenizer.json", content)
    if (cached := disk_cache.fetch(name)) is not None:
        model, rest = cached
        return read_tokenizer(JSONFile(path, rest), options, model)
    file = JSONFile(path, content)
    spec = read_tokenizer(file, options)
    if len(spec.special_tokens.tokens) > len(spec.model.tokens):
        return spec  # caching the model would save the smaller part of the work
    file.data["model"] = {key: value for key, value in file.data["model"].items() if key not in ("vocab", "merges")}
    disk_cache.store(name, spec.model, json.dumps(file.data).encode())
    return spec


def read_config(folder: Path) -> dict[str, Any]:
    """Return the arguments in tokenizer_config.json, special_tokens_map.json and chat_template.jinja."""
    metadata: dict[str, Any] = {}
    roles: dict[str, str | None] = {f"{role}_token": None for role in ROLES}
    for path in (folder / "special_tokens_map.json", folder / "tokenizer_config.json"):  # the latter is newer and wins
        if path.exists():
            file = JSONFile(path)
            roles |= {key: _token_name(file, key) for key in roles if key in file.data}
            if path.name == "tokenizer_config.json":
                metadata = {key: _metadata_value(file, key) for key in METADATA_KEYS if file.data.get(key) is not None}
    template = folder / "chat_template.jinja"
    if template.exists():
        metadata["chat_template"] = read_bytes(template).decode("utf-8", "replace")
    return {"metadata": metadata, **roles}


def _token_name(file: JSONFile, key: str) -> str | None:
    """Return the name of a token, given as a string or an object with its flags."""
    value = file.data[key]
    if isinstance(value, dict):
        return file.expect(value.get("content"), str, f"{key}.content")
    return None if value is None else file.expect(value, str, key)


def _metadata_value(file: JSONFile, key: str) -> Any:
    value = file.data[key]
    if key == "model_max_length":  # 1e30 for "no limit"
        return value if isinstance(value, float) else file.expect(value, int, key)
    if key == "chat_template" and isinstance(value, list):
        for index, entry in enumerate(value):
            for part in ("name", "template"):
                file.expect(file.expect(entry, dict, f"{key}[{index}]").get(part), str, f"{key}[{index}].{part}")
        return value
    return file.expect(value, str, key)


# -- writing -----------------------------------------------------------------------------------------------------------


def save(spec: TokenizerSpec, folder: Path) -> None:
    """Write both files; see `BPETokenizer.save`."""
    files = {"tokenizer.json": tokenizer_json(spec), "tokenizer_config.json": _config(spec)}
    contents = {name: json.dumps(data, ensure_ascii=False, indent=2).encode() + b"\n" for name, data in files.items()}
    if folder.exists() and not folder.is_dir():
        raise ConversionError(f"{folder} is a file; save writes a folder")
    if folder.suffix == ".json" and not folder.exists():
        raise ConversionError(
            f"save writes a folder, and {folder.name} is a file's name: {folder.stem} would get a tokenizer.json, "
            "which can be opened alone"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_all_atomically({folder / name: content for name, content in contents.items()})


def tokenizer_json(spec: TokenizerSpec) -> dict[str, Any]:
    """Return the contents of `tokenizer.json`. Raises ConversionError if it can't hold the tokenizer."""
    model = _model(spec)
    return {
        "version": "1.0",
        "truncation": write_section(spec.truncation),
        "padding": write_section(spec.padding),
        "added_tokens": [
            {
                "id": token.id,
                "content": token.content,
                "single_word": token.single_word,
                "lstrip": token.lstrip,
                "rstrip": token.rstrip,
                "normalized": token.normalized,
                "special": token.special,
            }
            for token in _in_order(spec.special_tokens.tokens, model["vocab"])
        ],
        "normalizer": write_component(spec.normalizer, "normalizer"),
        "pre_tokenizer": _pre_tokenizer(spec),
        "post_processor": write_component(spec.resolved_post_processor, "post_processor"),
        "decoder": write_component(spec.decoder, "decoder"),
        "model": model,
    }


def _in_order(added: tuple[AddedToken, ...], vocab: dict[str, int]) -> list[AddedToken]:
    """Return the tokens in their order, because the first of two with equal normalized text wins, or sorted by id.

    Hugging Face numbers tokens outside the vocabulary in the order of the file, so their ids must ascend.
    """
    renumbered = [token.id for token in added if token.content not in vocab or token.id >= len(vocab)]
    return list(added) if renumbered == sorted(renumbered) else sorted(added, key=lambda token: token.id)


def _model(spec: TokenizerSpec) -> dict[str, Any]:
    model, units = spec.model, spec.model.units
    in_bytes = units is None or not units.characters
    if units is not None and units.symbols:
        name = next(iter(units.symbols)).decode("utf-8", "replace")
        raise ConversionError(
            f"tokenizer.json can't hold symbols that never merge with their neighbours, such as {name!r}"
        )

    def text(token: bytes) -> str:
        try:
            return to_alphabet(token) if in_bytes else token.decode()
        except UnicodeDecodeError:
            raise ConversionError(f"tokenizer.json is text, and the token {token!r} is not UTF-8") from None

    vocab = {text(token): token_id for token_id, token in sorted(model.tokens.items())}
    merges = [[text(model.tokens[left]), text(model.tokens[right])] for left, right in merge_pairs(model)]
    _add_specials(spec, vocab, in_bytes)
    unk = None if units is None or units.unk_id is None else spec.tokens.get(units.unk_id)
    return {
        "type": "BPE",
        "dropout": spec.dropout,
        "unk_token": None if unk is None else unk.decode(),
        "continuing_subword_prefix": text(units.prefix) if units is not None and units.prefix else None,
        "end_of_word_suffix": text(units.suffix) if units is not None and units.suffix else None,
        "fuse_unk": units is not None and units.fuse_unk,
        "byte_fallback": units is not None and units.byte_tokens is not None,
        "ignore_merges": model.ignore_merges,
        "vocab": dict(sorted(vocab.items(), key=lambda item: item[1])),
        "merges": merges,
    }


def _add_specials(spec: TokenizerSpec, vocab: dict[str, int], in_bytes: bool) -> None:
    """Add to `vocab` the tokens that Hugging Face would otherwise renumber, or requires there."""
    added = sorted(spec.special_tokens.tokens, key=lambda token: token.id)
    if len({token.id for token in added}) < len(added):
        raise ConversionError("tokenizer.json can't hold two special tokens with one id")
    for token in added:
        if vocab.get(token.content, token.id) != token.id:
            other = from_alphabet(token.content) if in_bytes else token.content
            raise ConversionError(
                f"tokenizer.json would mix up the special token {token.content!r} with the token {other!r}"
            )
    units = spec.model.units
    if units is not None:
        vocab.update((token.content, token.id) for token in added if token.id == units.unk_id)
    outside = [token for token in added if token.content not in vocab]
    size, n_in_vocab = len(vocab), len(outside)
    # Hugging Face numbers tokens outside the vocabulary from its size on.
    while n_in_vocab and outside[n_in_vocab - 1].id == size + n_in_vocab - 1:
        n_in_vocab -= 1
    vocab.update((token.content, token.id) for token in outside[:n_in_vocab])


def merge_pairs(model: BPEModel) -> list[tuple[int, int]]:
    """Return the merges, as pairs of ids, in the order of their ranks.

    Raises ConversionError for a rank table that has no such list.
    """
    if not isinstance(model.merges, RankMerges):
        ranks = {rank for rank, _ in model.merges.values()}
        if len(ranks) == len(model.merges):
            return sorted(model.merges, key=lambda pair: model.merges[pair][0])
    if not model.recovered_merges.exact:
        raise ConversionError("a merge list can't hold this model: some tokens rank before their own parts")
    symbols = set() if model.units is None else set(model.units.symbols.values())
    first: dict[int, int] = {}
    for token_id, rank in model.recovered_merges.rank_of.items():
        if token_id not in symbols and first.setdefault(rank, token_id) != token_id:
            token, other = (model.tokens[each].decode("utf-8", "replace") for each in (first[rank], token_id))
            raise ConversionError(
                f"a merge list can't hold this model: {token!r} and {other!r} have one score, so that the one further "
                "left is merged first; in a list one of two merges always comes first"
            )
    return list(model.recovered_merges.splits.values())


def _pre_tokenizer(spec: TokenizerSpec) -> Any:
    pre_tokenizer, units = spec.pre_tokenizer, spec.model.units
    if isinstance(pre_tokenizer, Split):
        split: list[dict[str, Any]] = [_split(pre_tokenizer)]
    elif pre_tokenizer is None and (units is None or not units.characters):
        split = []
    else:
        return write_component(pre_tokenizer, "pre_tokenizer")
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {"type": "Sequence", "pretokenizers": [*split, byte_level]} if split else byte_level


def _split(split: Split) -> dict[str, Any]:
    component = {"type": "Split", "behavior": split.behavior, "invert": split.invert}
    if split.dialect == "oniguruma":
        return component | {"pattern": {"Regex": portable_end(split.pattern)}}
    named_pattern = find_pattern(split.pattern)
    expression = named_pattern.oniguruma if named_pattern else split.pattern
    outside_classes = re.sub(r"\\[^ZG]|\[(?:\\.|[^\]])*\]", "", expression)
    if not named_pattern and (construct := re.search(r"\$|\{[\d,]+\}\+|\\[ZG]", outside_classes)):
        raise ConversionError(
            f"the pattern {split.pattern!r} holds {construct[0]!r}, which means something else in Hugging Face's "
            r"engine; write \z for the end of the text, and (?>x{1,3}) instead of x{1,3}+"
        )
    return component | {"pattern": {"Regex": portable_end(expression)}}


def _config(spec: TokenizerSpec) -> dict[str, Any]:
    roles = {f"{role}_token": spec.roles[role] for role in ROLES}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,  # would remove spaces before punctuation when decoding
        **{role: name for role, name in roles.items() if name is not None},
        **{key: spec.metadata[key] for key in METADATA_KEYS if key in spec.metadata},
    }
