"""The Hugging Face Hub: a tokenizer's files, fetched into huggingface_hub's own cache.

Only what a tokenizer is made of is fetched for one, and only from a repository's root: never weights, never code, never
a folder such as `original/`. What is of no use alone comes first, and `tokenizer.json` before older formats, so that
what an interrupted download leaves in the cache is either too little to be taken for a tokenizer, or enough. The server
itself is trusted: huggingface_hub names what it keeps by the ETags that the server sends.

Cost: one request for the list of files, one or two for each file that is not in the cache. Chapter: File formats.
Source: huggingface_hub 1.21 `_snapshot_download.py`, `file_download.py`, `utils/_http.py`.
"""

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..errors import BPELabError, MissingDependencyError, TokenizerFileError
from ..install import install_command

COMPANIONS = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "merges.txt",
)
VOCABULARIES = ("tokenizer.json", "tokenizer.model", "vocab.json", "*.tiktoken")
FILES = (".json", ".model", ".gguf", ".tiktoken", ".vocab", ".txt", ".bpe")
"""What names of a tokenizer's files end with."""
LONG_LIST = 1_000  # beyond so many files the Hub may cut the list that comes with a repository's description
TIMEOUT = 10  # seconds until the Hub has to answer, as long as huggingface_hub waits elsewhere


def fetch(
    repo_or_path: str | Path,
    *,
    revision: str | None = None,
    token: str | bool | None = None,
    cache_dir: str | Path | None = None,
) -> Path:
    """A local file or folder as it is; else the folder in the cache that holds the files of a repository's tokenizer.

    Args:
        repo_or_path: "gpt2", "organization/name", or a path. What exists here wins, without any use of the network.
        revision: a branch, a tag or a commit; by default "main".
        token: an access token; by default the one of `hf auth login` or HF_TOKEN; False sends none.
        cache_dir: where the cache is; by default where huggingface_hub has it (HF_HUB_CACHE).

    With HF_HUB_OFFLINE=1, or if the Hub can't be reached, a copy in the cache serves. Raises TokenizerFileError for a
    path that doesn't exist, BPELabError where the Hub has no such repository, revision or tokenizer, wants a token, or
    can't be reached; MissingDependencyError without huggingface_hub; ValueError for a revision of a local path.

    >>> fetch(Path(__file__)).name
    'hub.py'
    """
    name = os.fspath(repo_or_path)
    local = os.path.expanduser(name)
    if os.path.exists(local):
        if revision is not None:
            raise ValueError(f"{name} is a local path, which has no revision {revision!r}: leave revision out")
        return Path(local)
    if isinstance(repo_or_path, Path) or is_path(name):
        raise TokenizerFileError(name, "", "there is no such file or folder")
    return download(Repository, name, revision, token, cache_dir)


def is_path(name: str) -> bool:
    """Whether a name can only be a path, and none of a repository."""
    return re.match(r"\.{0,2}/|~|[A-Za-z]:|.*\\", name, re.DOTALL) is not None


def elsewhere(name: str) -> str:
    """What opens a name that is no path here: the Hub, tiktoken, or both; nothing where it can only be a path.

    >>> elsewhere("org/model"), elsewhere("./gpt2")
    ('; if it is a repository on the Hugging Face Hub, call from_huggingface("org/model")', '')
    """
    if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", name) or name.endswith(FILES):
        return ""
    advice = f'; if it is a repository on the Hugging Face Hub, call from_huggingface("{name}")'
    try:
        from .tiktoken import encoding_name

        encoding_name(name)
    except (ImportError, ValueError):
        return advice
    return f'{advice}; for tiktoken\'s, call from_tiktoken("{name}")'


def download(
    kind: "type[Repository]",
    repo: str,
    revision: str | None,
    token: str | bool | None,
    cache_dir: str | Path | None,
    **options: Any,
) -> Path:
    """The folder in the cache with the files that `kind` wants of a repository. Raises as `fetch` does."""
    if revision is not None and re.search(r"^/|\.\.|[\\:~^?*\[\s]|^$", revision):
        raise ValueError(f"{revision!r} can't be a revision: expected a branch, a tag or a commit")
    if isinstance(token, str) and not re.fullmatch(r"[!-~]+", token):
        raise ValueError("the token is empty or has a space, a line's end or another character that no token has")
    try:
        import huggingface_hub.constants
        import huggingface_hub.errors
    except ImportError as error:
        raise MissingDependencyError(f"huggingface_hub is not installed: {install_command('hub')}") from error
    cache = None if cache_dir is None else Path(cache_dir).expanduser()
    hub = kind(huggingface_hub, repo, revision, token, cache, **options)
    try:
        return hub.download()
    except BPELabError:
        raise
    except Exception as error:  # OSError and the families of two HTTP libraries: requests, and since 1.0 httpx
        raise hub.explain(error) from error


class Repository:
    """One repository at one revision, through the module huggingface_hub. What is wanted of it is a tokenizer; a
    subclass may want something else."""

    wanted = "tokenizer"

    def __init__(
        self, module: Any, repo: str, revision: str | None, token: str | bool | None, cache_dir: Path | None
    ) -> None:
        self.module, self.errors = module, module.errors
        self.repo, self.revision, self.token = repo, revision or "main", token
        self.where = {"repo_id": repo, "cache_dir": cache_dir, "token": token}

    def download(self) -> Path:
        """The snapshot's folder. Raises whatever huggingface_hub and its HTTP library raise."""
        try:
            names = self.choose(self._listed())
        except Exception as error:
            if not self._unreachable(error):
                raise
            return self._cached(error)
        # The first file tells the commit and has the library note it as the revision's, for the day without network.
        # The others are fetched from that commit, should the branch move on meanwhile.
        folder = Path(self.module.hf_hub_download(filename=names[0], revision=self.revision, **self.where)).parent
        for name in names[1:]:
            self.module.hf_hub_download(filename=name, revision=folder.name, **self.where)
        return folder

    def _listed(self) -> list[str]:
        """The repository's files."""
        api = self.module.HfApi(token=self.token)
        info = api.model_info(self.repo, revision=self.revision, timeout=TIMEOUT)
        listed = [file.rfilename for file in info.siblings or ()]
        if len(listed) > LONG_LIST:
            listed = [entry.path for entry in api.list_repo_tree(self.repo, revision=info.sha)]
        return listed

    def choose(self, listed: list[str]) -> list[str]:
        """The files to fetch, in order. Raises BPELabError where what is wanted is not among them."""
        names = select(listed, COMPANIONS + VOCABULARIES)
        if not select(names, VOCABULARIES):
            raise BPELabError(
                f"the repository {self.repo!r} has no tokenizer that can be read at the revision {self.revision!r}: "
                f"none of {', '.join(VOCABULARIES)} is among its {len(listed)} files"
            )
        return names

    def _cached(self, error: Exception) -> Path:
        """The snapshot in the cache, if it is there and holds what is wanted."""
        where = {"repo_id": self.repo, "cache_dir": self.where["cache_dir"], "revision": self.revision}
        try:
            folder = Path(self.module.snapshot_download(local_files_only=True, **where))
            self.choose(os.listdir(folder))
        except (self.errors.LocalEntryNotFoundError, BPELabError):
            raise error from None
        return folder

    def _unreachable(self, error: BaseException) -> bool:
        """Whether no answer came, or one that says that the Hub itself is in trouble."""
        response = getattr(error, "response", None)
        if response is not None:
            return bool(response.status_code == 429 or response.status_code >= 500)
        # ConnectionError is what offline mode raises; the rest are httpx's and requests' families.
        return isinstance(error, (ConnectionError, TimeoutError)) or any(
            kind.__name__ in ("TransportError", "RequestException") for kind in type(error).__mro__
        )

    def explain(self, error: Exception) -> BPELabError:
        """What went wrong, and what to do."""
        errors, page = self.errors, f"{self.module.constants.ENDPOINT}/{self.repo}"
        answer = getattr(getattr(error, "response", None), "status_code", None)
        log_in = "log in with `hf auth login` or pass token="
        match error:
            case errors.HFValidationError():
                problem = (
                    "is neither a file or folder here nor the name of a repository, like gpt2 or organization/name"
                )
            case errors.GatedRepoError():
                problem = f"is gated: ask for access at {page}, then {log_in}"
            case errors.RepositoryNotFoundError():
                problem = (
                    f"is neither a file or folder here nor a repository that you may read; if it is private, {log_in}"
                )
            case errors.RevisionNotFoundError():
                problem = f"has no revision {self.revision!r}: its branches, tags and commits are listed at {page}"
            case errors.LocalTokenNotFoundError():
                problem = f"was to be read with a token, and there is none: {log_in}"
            case errors.OfflineModeIsEnabled():
                problem = (
                    f"has no {self.wanted} at the revision {self.revision!r} in the cache, and HF_HUB_OFFLINE forbids "
                    "to fetch one: unset it"
                )
            case errors.EntryNotFoundError() if answer is not None:
                problem = "changed while it was read: try again"
            case _ if answer in (401, 403):
                problem = (
                    f"was refused by the Hub ({answer}): there is no such repository, or it wants a token that may "
                    f"read it; {log_in}"
                )
            case _ if self._unreachable(error) or answer is not None:
                problem = (
                    f"could not be fetched from {page} ({answer or type(error).__name__}), and no whole copy is in the "
                    "cache: check the connection and try again"
                )
            case OSError():
                problem = "could not be fetched into the cache: " + str(error).partition("\n")[0]
            case _:
                problem = f"could not be fetched: {page} answered as the Hub doesn't ({type(error).__name__})"
        return BPELabError(f"{self.repo!r} {problem}")


def select(names: list[str], patterns: tuple[str, ...]) -> list[str]:
    """The names that fit, in the order of the patterns. One that is no plain name of a file never does.

    >>> select(["original/tokenizer.model", "../x.tiktoken", "qwen.tiktoken", "tokenizer.json"], VOCABULARIES)
    ['tokenizer.json', 'qwen.tiktoken']
    """
    plain = sorted(name for name in set(names) if not re.search(r"[/\\:\0]", name))
    return [name for pattern in patterns for name in plain if fnmatchcase(name, pattern)]
