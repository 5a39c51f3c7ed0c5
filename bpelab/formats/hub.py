"""The Hugging Face Hub: download a tokenizer's files into huggingface_hub's own cache.

Only the files of a tokenizer are fetched, and only from a repository's root: never weights, never code, never a folder
such as `original/`. Files that are useless on their own come first, and `tokenizer.json` before older formats. So an
interrupted download leaves either too little in the cache to pass for a tokenizer, or enough. The server is trusted:
huggingface_hub names its cached files by the ETags that the server sends.

Cost: one request for the list of files, one or two for each file that isn't in the cache. Chapter: File formats.
Source: huggingface_hub 1.21 `_snapshot_download.py`, `file_download.py`, `utils/_http.py`.
"""

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .._support.install import install_command
from ..errors import BPELabError, MissingDependencyError, TokenizerFileError

COMPANIONS = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "merges.txt",
)
VOCABULARIES = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json", "*.tiktoken")
FILE_ENDINGS = (".json", ".model", ".gguf", ".tiktoken", ".vocab", ".txt", ".bpe")
"""File name endings of tokenizer files."""
MAX_LISTED = 1_000  # files; the Hub may truncate longer lists in a repository's description
TIMEOUT = 10  # seconds to wait for an answer, as long as huggingface_hub waits elsewhere


def fetch(
    repo_or_path: str | Path,
    *,
    revision: str | None = None,
    token: str | bool | None = None,
    cache_dir: str | Path | None = None,
) -> Path:
    """Return a local path unchanged; for a repository, the folder in the cache with its tokenizer's files.

    Args:
        repo_or_path: "gpt2", "organization/name", or a path. A path that exists wins, and the network is not used.
        revision: a branch, a tag or a commit; by default "main".
        token: an access token; by default the one of `hf auth login` or HF_TOKEN; False sends none.
        cache_dir: where the cache is; by default where huggingface_hub has it (HF_HUB_CACHE).

    With HF_HUB_OFFLINE=1, or if the Hub can't be reached, a cached copy is used. Raises TokenizerFileError for a path
    that doesn't exist, BPELabError if the Hub has no such repository, revision or tokenizer, requires a token, or can't
    be reached; MissingDependencyError without huggingface_hub; ValueError for a revision of a local path.

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
    """Return whether a name can only be a path, not a repository."""
    return re.match(r"\.{0,2}/|~|[A-Za-z]:|.*\\", name, re.DOTALL) is not None


def other_sources(name: str) -> str:
    """Return advice on how to open a name that isn't a local path: the Hub, tiktoken, or both; "" for a path.

    >>> other_sources("org/model"), other_sources("./gpt2")
    ('; if it is a repository on the Hugging Face Hub, call from_huggingface("org/model")', '')
    """
    if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", name) or name.endswith(FILE_ENDINGS):
        return ""
    advice = f'; if it is a repository on the Hugging Face Hub, call from_huggingface("{name}")'
    try:
        from .tiktoken_registry import nearest_known

        known = nearest_known(name)
    except ImportError:
        known = None
    return f'{advice}; for tiktoken\'s, call from_tiktoken("{known}")' if known else advice


def download(
    kind: "type[Repository]",
    repo: str,
    revision: str | None,
    token: str | bool | None,
    cache_dir: str | Path | None,
    **options: Any,
) -> Path:
    """Return the cache folder with the files that `kind` chooses from a repository. Raises as `fetch` does."""
    if revision is not None and re.search(r"^/|\.\.|[\\:~^?*\[\s]|^$", revision):
        raise ValueError(f"{revision!r} can't be a revision: expected a branch, a tag or a commit")
    if isinstance(token, str) and not re.fullmatch(r"[!-~]+", token):
        raise ValueError("the token is empty or has a space, a line break or another character that no token has")
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
    """One repository at one revision, accessed through the module huggingface_hub.

    This class chooses the files of a tokenizer; a subclass may choose others.

    Attributes:
        wanted: the kind of files, for error messages.
    """

    wanted = "tokenizer"

    def __init__(
        self, module: Any, repo: str, revision: str | None, token: str | bool | None, cache_dir: Path | None
    ) -> None:
        self.module, self.errors = module, module.errors
        self.repo, self.revision, self.token = repo, revision or "main", token
        self.location = {"repo_id": repo, "cache_dir": cache_dir, "token": token}

    def download(self) -> Path:
        """Return the snapshot's folder. Raises whatever huggingface_hub and its HTTP library raise."""
        try:
            names = self.choose(self._list_files())
        except Exception as error:
            if not self._is_unreachable(error):
                raise
            return self._cached_snapshot(error)
        # Downloading the first file by its revision makes the library record the commit, for offline use.
        # The others are fetched from that commit, in case the branch moves meanwhile.
        folder = Path(self.module.hf_hub_download(filename=names[0], revision=self.revision, **self.location)).parent
        for name in names[1:]:
            self.module.hf_hub_download(filename=name, revision=folder.name, **self.location)
        return folder

    def _list_files(self) -> list[str]:
        """Return the names of all files in the repository."""
        api = self.module.HfApi(token=self.token)
        info = api.model_info(self.repo, revision=self.revision, timeout=TIMEOUT)
        listed = [file.rfilename for file in info.siblings or ()]
        if len(listed) > MAX_LISTED:
            listed = [entry.path for entry in api.list_repo_tree(self.repo, revision=info.sha)]
        return listed

    def choose(self, listed: list[str]) -> list[str]:
        """Return the files to fetch, in order. Raises BPELabError if a required one is missing."""
        names = select(listed, COMPANIONS + VOCABULARIES)
        if not select(names, VOCABULARIES):
            raise BPELabError(
                f"the repository {self.repo!r} has no tokenizer that can be read at the revision {self.revision!r}: "
                f"none of {', '.join(VOCABULARIES)} is among its {len(listed)} files"
            )
        return names

    def _cached_snapshot(self, error: Exception) -> Path:
        """Return the snapshot in the cache. Raises `error` if there is none, or a required file is missing."""
        where = {"repo_id": self.repo, "cache_dir": self.location["cache_dir"], "revision": self.revision}
        try:
            folder = Path(self.module.snapshot_download(local_files_only=True, **where))
            self.choose(os.listdir(folder))
        except (self.errors.LocalEntryNotFoundError, BPELabError):
            raise error from None
        return folder

    def _is_unreachable(self, error: BaseException) -> bool:
        """Return whether no answer came, or one that reports a failure of the Hub itself (429, or 500 and above)."""
        response = getattr(error, "response", None)
        if response is not None:
            return bool(response.status_code == 429 or response.status_code >= 500)
        # Offline mode raises ConnectionError; the rest are the exception families of httpx and requests.
        return isinstance(error, (ConnectionError, TimeoutError)) or any(
            kind.__name__ in ("TransportError", "RequestException") for kind in type(error).__mro__
        )

    def explain(self, error: Exception) -> BPELabError:
        """Return an error that explains what went wrong and what to do."""
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
                problem = f"needs a token to be read, but none was found: {log_in}"
            case errors.OfflineModeIsEnabled():
                problem = (
                    f"has no {self.wanted} at the revision {self.revision!r} in the cache, and HF_HUB_OFFLINE forbids "
                    "fetching one: unset it"
                )
            case errors.EntryNotFoundError() if answer is not None:
                problem = "changed while it was being read: try again"
            case _ if answer in (401, 403):
                problem = (
                    f"was refused by the Hub ({answer}): there is no such repository, or it needs a token with "
                    f"access; {log_in}"
                )
            case _ if self._is_unreachable(error) or answer is not None:
                problem = (
                    f"could not be fetched from {page} ({answer or type(error).__name__}), and no whole copy is in the "
                    "cache: check the connection and try again"
                )
            case OSError():
                problem = "could not be fetched into the cache: " + str(error).partition("\n")[0]
            case _:
                problem = f"could not be fetched: {page} didn't answer like the Hub ({type(error).__name__})"
        return BPELabError(f"{self.repo!r} {problem}")


def select(names: list[str], patterns: tuple[str, ...]) -> list[str]:
    """Return the names that match, in the order of the patterns. A name with a folder in it never matches.

    >>> select(["original/tokenizer.model", "../x.tiktoken", "qwen.tiktoken", "tokenizer.json"], VOCABULARIES)
    ['tokenizer.json', 'qwen.tiktoken']
    """
    plain = sorted(name for name in set(names) if not re.search(r"[/\\:\0]", name))
    return [name for pattern in patterns for name in plain if fnmatchcase(name, pattern)]
