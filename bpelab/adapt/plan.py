"""The plan of an adaptation: everything that will be copied, initialized or left out, before anything is written.

Chapter: New words for an old model. Cost: reading the headers of the model's files, one look at each token, and
encoding the new ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.validate import check_name
from ..chat.backends.errors import import_extra
from ..chat.models.find import ModelFiles, find_model
from ..chat.models.tensor_headers import Tensor
from ..errors import ModelFileError, TokenizerFileError
from .row_map import MADE, PADDING, RowMap, map_rows

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from .matrices import Matrices

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
        settings: the new config.json and generation_config.json, by name; for a GGUF file, its keys and their types.
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
            "model": f"{self.files.name}, {self.files.architecture}, files of weights: {len(self.tensors)}",
            "tokens": f"{facts['tokens_before']:,} -> {facts['tokens_after']:,}",
            "rows": f"{facts['rows_before']:,} -> {facts['rows_after']:,}: {facts['rows_copied']:,} copied, {made}"
            + (f", {padding:,} of padding" if padding else ""),
            "ids": ", ".join(ids) or "all tokens keep theirs",
            "matrices": ", ".join(f"{tensor.name} ({tensor.type})" for tensor in self.matrices.tensors)
            + self._quantized,
            "parameters": _difference(facts["parameters_before"], facts["parameters_after"]),
            "bytes of weights": _difference(facts["bytes_before"], facts["bytes_after"]),
            "left out": ", ".join(f"{name} ({why})" for name, why in self.left_out.items()) or "nothing",
        }
        return "\n".join(f"{name:17} {value}" for name, value in lines.items())

    @property
    def _quantized(self) -> str:
        """What is done where rows are made for a quantized matrix."""
        from .numbers import STORED

        if not (self.rows.source < 0).any() or all(tensor.type in STORED for tensor in self.matrices.tensors):
            return ""
        return "; new rows are computed from rows that the gguf library dequantizes, and quantized again"


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
    from .folder_files import FolderSource
    from .gguf_model import GGUFSource
    from .row_rules import ROW_RULES

    check_name(rows, "rows", ROW_RULES)
    files = model if isinstance(model, ModelFiles) else _find(model)
    try:
        source: FolderSource | GGUFSource
        if files.safetensors:
            import_extra("safetensors", "chat")
            source = FolderSource(files)
        else:
            source = GGUFSource(files)
        matrices = source.matrices
        old = files.tokenizer() if old_tokenizer is None else old_tokenizer
        beyond = sum(token_id >= matrices.rows for token_id in old.get_vocab().values())
        if beyond > STRANGE_IDS:
            raise ModelFileError(
                f"{files.name}: {beyond:,} ids of the old tokenizer are beyond the {matrices.rows:,} rows of the "
                "model: it is another model's. Pass the right one as old_tokenizer"
            )
        found = map_rows(old, tokenizer, matrices.rows, ids=ids, pad_to_multiple_of=pad_to_multiple_of)
        settings = source.settings(found, tokenizer)  # what the files can't hold is reported now
        copied, left_out = source.other_files()
    except TokenizerFileError as error:
        raise ModelFileError(str(error)) from error
    except RecursionError as error:
        raise ModelFileError(f"{files.name}: its configuration is nested too deeply") from error
    except OSError as error:
        raise ModelFileError(f"{files.name} can't be read: {error.strerror or error}") from error
    return AdaptationPlan(files, old, tokenizer, matrices, found, rows, source.tensors, settings, copied, left_out)


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
