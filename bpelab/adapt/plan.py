"""The plan of an adaptation: everything that will be copied, initialized or left out, before anything is written.

Chapter: New words for an old model. Cost: reading the headers of the model's files, one look at each token, and
encoding the new ones.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.json_document import JSONFile
from .._support.validate import check_name
from ..chat.backends.errors import import_extra
from ..chat.models.files import INDEX
from ..chat.models.find import PICKLES, ModelFiles, find_model
from ..chat.models.tensor_headers import Tensor, safetensors_tensors
from ..errors import ModelFileError, TokenizerFileError
from ..formats.tokenizer_json_save import tokenizer_json
from .id_settings import with_new_ids
from .row_map import MADE, PADDING, RowMap, map_rows

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from .matrices import Matrices

CARD, HASHES = "ADAPTED.md", "SHA256SUMS"
CONFIGS = ("config.json", "generation_config.json")
TOKENIZER_FILES = {
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "merges.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "tekken.json", "chat_template.jinja",
}  # fmt: skip
"""Files of the old tokenizer, replaced by the new one's."""
WEIGHTS = (
    ".safetensors", ".gguf", ".onnx", ".h5", ".msgpack", ".npz", ".npy", ".ot", ".tflite", ".mlmodel", ".xml", *PICKLES,
)  # fmt: skip
"""Suffixes of other weight files, which would still have the old vocabulary."""
MOST_FILES = 10_000
STRANGE_IDS = 64
"""The most ids that a model's own tokenizer may have beyond the model's rows: some have a few for other uses."""


@dataclass(frozen=True, eq=False)
class AdaptationPlan:
    """What `adapt_model` will do; `str(plan)` is a short summary.

    Attributes:
        files: the model's files.
        old, new: the tokenizers.
        matrices: the tensors with a row for each token.
        rows: where the new rows come from.
        rule: the name of the rule that initializes new tokens' rows.
        tensors: all tensors of the model, file by file.
        settings: the new config.json and generation_config.json, by name.
        copied_files: other files, copied unchanged.
        left_out: files that aren't copied, with the reason.
    """

    files: ModelFiles
    old: "BPETokenizer"
    new: "BPETokenizer"
    matrices: "Matrices"
    rows: RowMap
    rule: str
    tensors: Mapping[Path, tuple[Tensor, ...]] = field(repr=False)
    settings: Mapping[str, Mapping[str, Any]] = field(repr=False)
    copied_files: tuple[str, ...]
    left_out: Mapping[str, str]

    @cached_property
    def facts(self) -> dict[str, int]:
        """The numbers of the plan, by name: tokens, rows, parameters and bytes of weights, before and after."""
        source, before, after = self.rows.source, self.matrices.rows, len(self.rows.source)
        sizes = [(prod(tensor.shape), tensor.size) for found in self.tensors.values() for tensor in found]
        changed = [(prod(tensor.shape) // before, tensor.size // before) for tensor in self.matrices.tensors]
        parameters, size = (sum(column) for column in zip(*sizes))
        row_parameters, row_size = (sum(column) for column in zip(*changed))
        return {
            "tokens_before": len(self.old),
            "tokens_after": len(self.new),
            "tokens_removed": len(self.rows.removed),
            "tokens_with_new_ids": sum(old != new for old, new in self.rows.ids.items()),
            "rows_before": before,
            "rows_after": after,
            "rows_copied": int((source >= 0).sum()),
            "rows_made": int((source == MADE).sum()),
            "rows_without_parts": sum(not parts for parts in self.rows.parts.values()),
            "rows_of_padding_made": int((source == PADDING).sum()),
            "parameters_before": parameters,
            "parameters_after": parameters + (after - before) * row_parameters,
            "bytes_before": size,
            "bytes_after": size + (after - before) * row_size,
        }

    def __str__(self) -> str:
        facts = self.facts
        made = f"{facts['rows_made']:,} made (rule {self.rule!r})"
        if facts["rows_without_parts"]:
            made += f", {facts['rows_without_parts']:,} of them without parts, from the average row"
        padding = facts["rows_of_padding_made"]
        ids = [f"{facts['tokens_removed']:,} tokens go"] * bool(facts["tokens_removed"])
        ids += [f"{facts['tokens_with_new_ids']:,} tokens get other ids"] * bool(facts["tokens_with_new_ids"])
        lines = {
            "model": f"{self.files.name}, {self.files.architecture}, files of weights: {len(self.files.safetensors)}",
            "tokens": f"{facts['tokens_before']:,} -> {facts['tokens_after']:,}",
            "rows": f"{facts['rows_before']:,} -> {facts['rows_after']:,}: {facts['rows_copied']:,} copied, {made}"
            + (f", {padding:,} of padding" if padding else ""),
            "ids": ", ".join(ids) or "all tokens keep theirs",
            "matrices": ", ".join(f"{tensor.name} ({tensor.type})" for tensor in self.matrices.tensors),
            "parameters": _difference(facts["parameters_before"], facts["parameters_after"]),
            "bytes of weights": _difference(facts["bytes_before"], facts["bytes_after"]),
            "left out": ", ".join(f"{name} ({why})" for name, why in self.left_out.items()) or "nothing",
        }
        return "\n".join(f"{name:17} {value}" for name, value in lines.items())


def _difference(before: int, after: int) -> str:
    return f"{before:,} -> {after:,} ({after - before:+,}, {(after - before) / before:+.1%})"


def plan_adaptation(
    model: "str | Path | ModelFiles | None",
    tokenizer: "BPETokenizer",
    *,
    old_tokenizer: "BPETokenizer | None" = None,
    rows: str = "mean",
    ids: Mapping[int, int] | None = None,
    pad_to_multiple_of: int | None = None,
) -> AdaptationPlan:
    """Return what `adapt_model` would do with the same arguments; raise the errors it would raise before writing.

    >>> from bpelab.chat.models.find import SHIPPED
    >>> from bpelab import BPETokenizer
    >>> more = BPETokenizer.from_pretrained(SHIPPED).with_special_tokens(["<|tool|>"])
    >>> plan = plan_adaptation(SHIPPED, more)
    >>> plan.facts["rows_after"], plan.facts["rows_copied"], plan.facts["rows_made"], plan.rows.keeps_ids
    (1025, 1024, 1, True)
    """
    import_extra("numpy", "chat")
    import_extra("safetensors", "chat")
    from .matrices import find_matrices
    from .row_rules import ROW_RULES

    check_name(rows, "rows", ROW_RULES)
    files = model if isinstance(model, ModelFiles) else _find(model)
    if not files.safetensors:
        raise ModelFileError(
            f"{files.name}: GGUF files can't be adapted, since their numbers are mostly quantized: adapt the model's "
            "safetensors, and convert those"
        )
    try:
        tensors = _tensors(files)
        matrices = find_matrices(files.name, files.config, [each for found in tensors.values() for each in found])
        old = files.tokenizer() if old_tokenizer is None else old_tokenizer
        tokenizer_json(tokenizer.spec)  # what it can't hold is reported now
        beyond = sum(token_id >= matrices.rows for token_id in old.get_vocab().values())
        if beyond > STRANGE_IDS:
            raise ModelFileError(
                f"{files.name}: {beyond:,} ids of the old tokenizer are beyond the {matrices.rows:,} rows of the "
                "model: it is another model's. Pass the right one as old_tokenizer"
            )
        found = map_rows(old, tokenizer, matrices.rows, ids=ids, pad_to_multiple_of=pad_to_multiple_of)
        settings = _settings(files, matrices, found, tokenizer)
        copied, left_out = _other_files(files)
    except TokenizerFileError as error:
        raise ModelFileError(str(error)) from error
    except RecursionError as error:
        raise ModelFileError(f"{files.name}: its configuration is nested too deeply") from error
    except OSError as error:
        raise ModelFileError(f"{files.name} can't be read: {error.strerror or error}") from error
    return AdaptationPlan(files, old, tokenizer, matrices, found, rows, tensors, settings, copied, left_out)


def _find(model: "str | Path | None") -> ModelFiles:
    """Return the files of a model. Raises ModelFileError, which for pickles says how to convert them to safetensors."""
    try:
        return find_model(model)
    except ModelFileError as error:
        if "pickle" not in str(error) and ".bin" not in str(error):
            raise
        raise ModelFileError(
            f"{error}. If you trust its makers, AutoModelForCausalLM.from_pretrained(OLD).save_pretrained(NEW) of "
            "transformers writes safetensors"
        ) from error


def _tensors(files: ModelFiles) -> dict[Path, tuple[Tensor, ...]]:
    """Return the tensors of each file, checked against the index if there is one. Raises ModelFileError."""
    found = {path: tuple(safetensors_tensors(path)) for path in files.safetensors}
    home: dict[str, Path] = {}
    for path, tensors in found.items():
        for tensor in tensors:
            if tensor.name in home:
                raise ModelFileError(f"the tensor {tensor.name[:80]!r} is in {home[tensor.name]} and in {path}")
            home[tensor.name] = path
    for name, file in index_of(files).items():
        if name not in home or home[name].name != file:
            raise ModelFileError(
                f"{files.folder / INDEX} says that {file} has the tensor {name[:80]!r}, which is "
                f"{'in ' + home[name].name if name in home else 'nowhere'}: fetch the model again"
            )
    return found


def _settings(
    files: ModelFiles, matrices: "Matrices", rows: RowMap, new: "BPETokenizer"
) -> dict[str, Mapping[str, Any]]:
    """Return the configurations with the new model's ids and number of rows."""
    found = {}
    for name in CONFIGS:
        path = files.folder / name
        if path.exists():
            found[name] = with_new_ids(str(path), JSONFile(path).data, rows, new)
    for keys in matrices.sizes:
        inner = found["config.json"]
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = len(rows.source)
    return dict(found)


def index_of(files: ModelFiles) -> dict[str, str]:
    """Return tensor -> file for a sharded model; {} for a model in one file."""
    if [path.name for path in files.safetensors] == ["model.safetensors"]:
        return {}
    return dict(JSONFile(files.folder / INDEX).data["weight_map"])


def _other_files(files: ModelFiles) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the names of the files to copy, and name -> reason for those to leave out."""
    written = {path.name for path in files.safetensors} | {INDEX, CARD, HASHES, *CONFIGS}
    copied, left_out = [], {}
    for path, name in _listed(files.folder):
        if name in written:
            continue
        if path.is_dir():
            left_out[f"{name}/"] = "a folder"
        elif not path.is_file():
            left_out[name] = "not a file"
        elif path.is_symlink() and path.resolve().parent not in (files.folder.resolve(), _blobs(files.folder)):
            left_out[name] = "a link that leads elsewhere"
        elif name in TOKENIZER_FILES or path.suffix == ".tiktoken":
            if name not in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
                left_out[name] = "of the old tokenizer"
        elif path.name.endswith(WEIGHTS) or ".bin.index" in name or ".safetensors.index" in name:
            left_out[name] = "weights of the old vocabulary"
        else:
            copied.append(name)
    return tuple(copied), left_out


def _blobs(folder: Path) -> Path:
    """Return the folder of the Hub's cache that holds the files a model's folder links to."""
    return folder.resolve().parent.parent / "blobs"


def _listed(folder: Path) -> Iterator[tuple[Path, str]]:
    paths = sorted(folder.iterdir())
    if len(paths) > MOST_FILES:
        raise ModelFileError(f"{folder} has more than {MOST_FILES:,} files: it is not the folder of one model")
    yield from ((path, path.name) for path in paths if not path.name.startswith(".") and path.name != "__pycache__")
