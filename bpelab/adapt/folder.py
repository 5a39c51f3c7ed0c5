"""Write a model for another tokenizer, completely or not at all; the old one is only read.

A GGUF file becomes another (`gguf_model.py`), a folder another folder, and here is how that is written. Everything goes
to a temporary folder, is reopened and compared, and is renamed last. A killed process leaves the old model as it was,
and no partial new one.

Chapter: New words for an old model. Cost: reads and writes the model once; memory for a block of rows, and with the
rule `normal` for a width x width matrix.
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.json_document import JSONFile
from .._support.new_folder import is_free, new_folder
from .._support.progress import progress_bar
from .._support.textio import expand_user
from ..chat.backends.errors import import_extra
from ..chat.models.files import INDEX
from ..chat.models.find import find_model
from ..errors import ModelFileError, TokenizerFileError
from .card import card
from .folder_files import CARD, HASHES, index_of
from .plan import AdaptationPlan, plan_adaptation

if TYPE_CHECKING:
    from ..chat.models.find import ModelFiles
    from ..tokenizer import BPETokenizer


def adapt_model(
    model: "str | Path | ModelFiles | AdaptationPlan | None",
    tokenizer: "BPETokenizer | None",
    out: str | Path,
    *,
    seed: int = 0,
    progress: bool | None = False,
    **options: Any,
) -> AdaptationPlan:
    """Write a folder with another tokenizer and with the model, its embeddings adapted to that tokenizer.

    Args:
        model: a folder with config.json and safetensors, a GGUF file, a name on the Hugging Face Hub, or None for the
            model that comes with bpelab. Or a plan; then pass None for the tokenizer, and no options.
        tokenizer: the new tokenizer; its ids may be anything.
        out: a new folder, or an empty one; for a GGUF file, the name of a new GGUF file.
        seed: for the rule "normal".
        progress: whether to show a progress bar of the bytes written; None shows it only in a terminal.
        options: those of `plan_adaptation`: old_tokenizer, by default the one in the model's folder; rows, the rule
            that initializes new tokens' rows ("mean", "average", "normal": see `row_rules`); ids, old id -> new id of
            the tokens whose rows are copied, by default all shared tokens; pad_to_multiple_of.

    Rows of shared tokens are copied bit by bit. Returns the plan, whose `facts` have the numbers, as does ADAPTED.md in
    the folder; SHA256SUMS has each file's hash. After an error there is no folder. Raises ModelFileError, with the
    reason, if the model can't be adapted correctly or the folder can't be written; ConversionError for a tokenizer that
    tokenizer.json can't hold; ValueError for other arguments; MissingDependencyError.

    >>> import tempfile
    >>> from bpelab import BPETokenizer
    >>> from bpelab.chat import ChatSession
    >>> from bpelab.chat.models.find import SHIPPED
    >>> more = BPETokenizer.from_pretrained(SHIPPED).with_special_tokens(["<|tool|>"])
    >>> with tempfile.TemporaryDirectory() as home:
    ...     plan = adapt_model(SHIPPED, more, f"{home}/adapted")
    ...     same = (
    ...         ChatSession(f"{home}/adapted").ask("What is a token?").text
    ...         == ChatSession().ask("What is a token?").text
    ...     )
    >>> plan.facts["rows_made"], same
    (1, True)
    """
    if isinstance(model, AdaptationPlan):
        if tokenizer is not None or options:
            raise TypeError("a plan has its tokenizer and its options: pass None for the tokenizer, and no options")
        plan = model
    else:
        if tokenizer is None:
            raise TypeError("adapt_model needs the new tokenizer")
        plan = plan_adaptation(model, tokenizer, **options)
    path = Path(os.path.abspath(expand_user(out)))
    check_out(plan.files, path, str(out), plan.facts["bytes_after"])
    if plan.files.safetensors:
        _write_folder(plan, path, str(out), seed, progress)
    else:
        from .gguf_model import write_model

        write_model(plan, path, seed, progress)
    return plan


def _write_folder(plan: AdaptationPlan, path: Path, said: str, seed: int, progress: bool | None) -> None:
    """Write the folder; `said` is what the user called it. Raises ModelFileError."""
    try:
        with new_folder(path) as temporary:
            with progress_bar(progress, plan.facts["bytes_after"], "adapting", "B") as advance:
                hashes = _write_weights(plan, temporary, seed, advance)
            _write_others(plan, temporary)
            _verify(plan, temporary)
            for each in temporary.iterdir():
                if each.name not in hashes:
                    with each.open("rb") as file:
                        hashes[each.name] = file_digest(file, "sha256").hexdigest()
            earlier = plan.files.folder / CARD
            text = card(plan, seed, earlier.read_text("utf-8", "replace") if earlier.is_file() else "")
            _write(temporary / CARD, text.encode())
            hashes[CARD] = sha256(text.encode()).hexdigest()
            lines = [f"{digest}  {name}\n" for name, digest in sorted(hashes.items())]
            _write(temporary / HASHES, "".join(lines).encode())
    except TokenizerFileError as error:
        raise ModelFileError(str(error)) from error
    except OSError as error:
        raise ModelFileError(f"{said} can't be written: {error.strerror or error}") from error


def check_out(files: "ModelFiles", path: Path, said: str, needed: int = 0) -> None:
    """Raise ModelFileError if the name is taken or can't be written to, or if less than `needed` bytes are free."""
    if not files.safetensors and path.suffix != ".gguf":
        raise ModelFileError(f"{said}: of a GGUF file, a GGUF file is made: give it a name that ends in .gguf")
    if files.safetensors and path.resolve().is_relative_to(files.folder.resolve()):
        raise ModelFileError(f"{said} is in the model's own folder, which isn't changed: choose another place")
    try:
        if not (is_free(path) if files.safetensors else not os.path.lexists(path)):
            raise ModelFileError(f"{said} exists already: delete it, or choose another name")
        above = path
        while not above.exists():
            above = above.parent
        free = shutil.disk_usage(above).free
    except OSError as error:
        raise ModelFileError(f"{said} can't be written: {error.strerror or error}") from error
    if needed > free:
        raise ModelFileError(
            f"{said} can't be written: No space left on device: {needed:,} bytes are needed, {free:,} are free"
        )


def _write_weights(plan: AdaptationPlan, folder: Path, seed: int, advance: Callable[[int], object]) -> dict[str, str]:
    """Write the weight files; return name -> SHA-256. Files without token rows are copied."""
    from .row_rules import ROW_RULES
    from .tensor_files import copy, rewrite

    matrices = {tensor.name: plan.rows for tensor in plan.matrices.tensors}
    hashes = {}
    for path, tensors in plan.tensors.items():
        changed = {tensor.name: plan.rows for tensor in tensors if tensor.name in matrices}
        target = folder / path.name
        rule = ROW_RULES[plan.rule]
        hashes[path.name] = (
            rewrite(path, target, tensors, changed, rule, seed, advance) if changed else copy(path, target, advance)
        )
    return hashes


def _write_others(plan: AdaptationPlan, folder: Path) -> None:
    """Write the index, the configurations, the tokenizer, and the files copied unchanged."""
    from .tensor_files import copy

    source = plan.files.folder
    if index_of(plan.files):
        index = JSONFile(source / INDEX).data
        metadata = index.get("metadata")
        index["metadata"] = {
            **(metadata if isinstance(metadata, Mapping) else {}),
            "total_size": plan.facts["bytes_after"],
        }
        if "total_parameters" in index["metadata"]:
            index["metadata"]["total_parameters"] = plan.facts["parameters_after"]
        _write_json(folder / INDEX, index)
    for name, settings in plan.settings.items():
        _write_json(folder / name, settings)
    plan.new.save(folder)
    template = plan.new.spec.metadata.get("chat_template")
    if isinstance(template, str) and (source / "chat_template.jinja").exists():
        _write(folder / "chat_template.jinja", template.encode())
    for name in plan.copied_files:
        copy(source / name, folder / name, lambda size: None)


def _verify(plan: AdaptationPlan, folder: Path) -> None:
    """Open the written files as others will. Raises ModelFileError if they differ from the plan."""
    safetensors = import_extra("safetensors", "chat")
    for path, tensors in plan.tensors.items():
        try:
            with safetensors.safe_open(folder / path.name, "np") as file:
                names = set(file.keys())
        except Exception as error:
            raise ModelFileError(f"{path.name} was written and can't be opened: {error}") from error
        if names != {tensor.name for tensor in tensors}:
            raise ModelFileError(f"{path.name} was written with other tensors than planned")
    written = find_model(folder).tokenizer()
    if written.get_vocab() != plan.new.get_vocab():
        raise ModelFileError("the tokenizer was written with other ids than planned")


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    _write(path, json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n")


def _write(path: Path, content: bytes) -> None:
    from .tensor_files import HashedFile

    with HashedFile(path) as file:
        file.write(content)
