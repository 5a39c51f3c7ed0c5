"""Upload a published folder to the Hugging Face Hub, unchanged, and only on request.

The folder has to match its SHA256SUMS: if a file was changed since, nothing is sent to the Hub. A new repository is
private, and an existing one is left alone, unless the caller says otherwise.

Chapter: Publish your own tokenizer. Source: huggingface_hub 1.21 `hf_api.py`, `_upload_pipeline.py`, `_commit_api.py`.
"""

from pathlib import Path
from typing import Any

from .._support.install import install_command
from .._support.textio import expand_user
from ..errors import BPELabError, MissingDependencyError, PublishingError
from .card import CARD_FILE
from .folder import changed_files

MESSAGE = "A tokenizer, published with bpelab"


def upload(
    folder: str | Path, repo: str, *, private: bool = True, update: bool = False, token: str | None = None
) -> str:
    """Upload a folder that `publish` wrote, and return the URL of its page on the Hub.

    Args:
        repo: "name", or "organization/name".
        private: whether only its owner can see the new repository. An existing one keeps its setting.
        update: whether the repository may exist already. Files of the same names are then replaced.
        token: a token with write access; by default that of `hf auth login` or HF_TOKEN.

    Raises PublishingError for a folder whose files are not those of its SHA256SUMS, without a token, and where the Hub
    refuses or can't be reached; MissingDependencyError without huggingface_hub. Cost: four requests, and two more for
    the files that the Hub stores separately, such as GGUF.
    """
    path = expand_user(folder)
    if changed := changed_files(path):
        raise PublishingError(
            f"{folder} differs from SHA256SUMS: {', '.join(changed[:4])}; `write_hashes` writes it again"
        )
    if missing := [name for name in ("tokenizer.json", CARD_FILE) if not (path / name).is_file()]:
        raise PublishingError(f"{folder} has no {missing[0]}; `publish` writes a whole folder")
    token = require_token(repo, token)
    import huggingface_hub
    import huggingface_hub.errors

    hub, created = huggingface_hub.HfApi(token=token), False
    try:
        page = str(hub.create_repo(repo, private=private, exist_ok=update))
        created = True
        hub.upload_folder(repo_id=page.removeprefix(f"{hub.endpoint}/"), folder_path=path, commit_message=MESSAGE)
    except Exception as error:  # huggingface_hub's own, those of httpx, OSError
        raise _explain(error, huggingface_hub.errors, repo, created, token) from error
    return page


def require_token(repo: str, token: str | None = None) -> str:
    """Return the token to upload with, without a request to the Hub.

    Raises PublishingError for an invalid repository name, and without a token; MissingDependencyError without
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
            f"{repo!r} is not the name of a repository, like my-tokenizer or organization/my-tokenizer"
        ) from error
    token = token or huggingface_hub.get_token()
    if token is None:
        raise PublishingError(
            "nothing was uploaded: there is no token for the Hub. Create one with write access, then log in with "
            "`hf auth login`, or set HF_TOKEN"
        )
    return token


def _explain(error: Exception, errors: Any, repo: str, created: bool, token: str) -> BPELabError:
    """Return an error that says what went wrong, what is on the Hub now, and what to do, without the token."""
    answer = getattr(getattr(error, "response", None), "status_code", None)
    server_message = str(getattr(error, "server_message", None) or "").replace(token, "...")[:300]
    match error:
        case errors.OfflineModeIsEnabled():
            problem = "was not reached, since HF_HUB_OFFLINE forbids it: unset it"
        case _ if answer == 409 and not created:
            problem = "exists already, and was left unchanged: with update=True (--update) its files are replaced"
        case _ if answer in (401, 403):
            problem = f"was refused ({answer}): the token is not valid, or may not write there"
        case _ if answer is not None:
            problem = f"was refused by the Hub ({answer})"
        case _:
            problem = f"could not be uploaded to ({type(error).__name__}): check the connection and try again"
    advice = ". It was created, and may have no files: try again with update=True (--update)" if created else ""
    return PublishingError(f"{repo!r} {problem}{f'; it says: {server_message}' if server_message else ''}{advice}")
