"""To the Hugging Face Hub: a published folder, as it was published, and only when asked.

What is sent is what SHA256SUMS knows, so a file that was changed since stops everything before a word is said to the
Hub. A repository is made private, and one that is there already is left alone, unless told otherwise.

Chapter: Your own tokenizer. Source: huggingface_hub 1.21 `hf_api.py`, `_upload_pipeline.py`, `_commit_api.py`.
"""

from pathlib import Path
from typing import Any

from ..errors import BPELabError, MissingDependencyError, PublishingError
from ..formats.detect import in_home
from ..install import install_command
from .card import CARD
from .folder import changed_files

MESSAGE = "A tokenizer, published with bpelab"


def upload(
    folder: str | Path, repo: str, *, private: bool = True, update: bool = False, token: str | None = None
) -> str:
    """Upload a folder that `publish` wrote; the address of its page on the Hub.

    Args:
        repo: "name", or "organization/name".
        private: whether the new repository can be seen by its owner alone. One that is there stays as it is.
        update: whether the repository may be there already. Files of the same names are then replaced.
        token: one that may write; by default that of `hf auth login` or HF_TOKEN.

    Raises PublishingError for a folder whose files are not those of its SHA256SUMS, without a token, and where the Hub
    refuses or can't be reached; MissingDependencyError without huggingface_hub. Cost: four requests, and two more for
    the files that the Hub wants to have apart, such as GGUF.
    """
    path = in_home(folder)
    if changed := changed_files(path):
        raise PublishingError(
            f"{folder}: not as SHA256SUMS has it: {', '.join(changed[:4])}; `write_hashes` writes it anew"
        )
    if missing := [name for name in ("tokenizer.json", CARD) if not (path / name).is_file()]:
        raise PublishingError(f"{folder} has no {missing[0]}; `publish` writes a whole folder")
    token = ready(repo, token)
    import huggingface_hub
    import huggingface_hub.errors

    hub, made = huggingface_hub.HfApi(token=token), False
    try:
        page = str(hub.create_repo(repo, private=private, exist_ok=update))
        made = True
        hub.upload_folder(repo_id=page.removeprefix(f"{hub.endpoint}/"), folder_path=path, commit_message=MESSAGE)
    except Exception as error:  # huggingface_hub's own, those of httpx, OSError
        raise _explain(error, huggingface_hub.errors, repo, made, token) from error
    return page


def ready(repo: str, token: str | None = None) -> str:
    """The token to upload with; the Hub is not asked.

    Raises PublishingError for what is no name of a repository, and without a token; MissingDependencyError without
    huggingface_hub.
    """
    try:
        import huggingface_hub
        import huggingface_hub.errors
        import huggingface_hub.utils
    except ImportError as error:
        raise MissingDependencyError(f"huggingface_hub is not installed: {install_command('hub')}") from error
    try:
        huggingface_hub.utils.validate_repo_id(repo)  # type: ignore[attr-defined]
    except huggingface_hub.errors.HFValidationError as error:
        raise PublishingError(
            f"{repo!r} is no name of a repository, like my-tokenizer or organization/my-tokenizer"
        ) from error
    token = token or huggingface_hub.get_token()
    if token is None:
        raise PublishingError(
            "nothing was uploaded: there is no token for the Hub. Make one that may write, then log in with "
            "`hf auth login`, or set HF_TOKEN"
        )
    return token


def _explain(error: Exception, errors: Any, repo: str, made: bool, token: str) -> BPELabError:
    """What went wrong, what is on the Hub now, and what to do. The token is in no message."""
    answer = getattr(getattr(error, "response", None), "status_code", None)
    said = str(getattr(error, "server_message", None) or "").replace(token, "...")[:300]
    match error:
        case errors.OfflineModeIsEnabled():
            problem = "was not reached, since HF_HUB_OFFLINE forbids it: unset it"
        case _ if answer == 409 and not made:
            problem = "is there already, and was left as it is: with update=True (--update) its files are replaced"
        case _ if answer in (401, 403):
            problem = f"was refused ({answer}): the token is not valid, or may not write there"
        case _ if answer is not None:
            problem = f"was refused by the Hub ({answer})"
        case _:
            problem = f"could not be uploaded to ({type(error).__name__}): check the connection and try again"
    after = ". It was made, and may be without files: try again with update=True (--update)" if made else ""
    return PublishingError(f"{repo!r} {problem}{f'; it says: {said}' if said else ''}{after}")
