"""Tokenizers from the Hugging Face Hub, or rather from a server on this machine that speaks as much of its protocol as
huggingface_hub uses. huggingface_hub reads its settings when it is imported, so each `ask` is a process of its own."""

import hashlib
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from bpelab import BPELabError, BPETokenizer, MissingDependencyError, TokenizerFileError
from bpelab._support.install import install_command
from bpelab.formats.hub import fetch
from bpelab.notebook import book_text

from ..conftest import ROOT

pytest.importorskip("huggingface_hub")

TOKEN = "hf_secretSECRETsecret"
MAIN, OLD = "a" * 40, "b" * 40
CHUNK = 10 * 1024 * 1024  # huggingface_hub's: what it has received when a connection breaks, it keeps in such pieces
VOCABULARY = "tokenizer.json"
EVIL = [
    "../evil.tiktoken", "../../../../evil.tiktoken", "/evil.tiktoken", "..\\evil.tiktoken", "c:evil.tiktoken",
    "folder/../../evil.tiktoken",
]  # fmt: skip

CHILD = """
import json, sys, traceback
from bpelab.formats import hub
for question in json.load(sys.stdin):
    hub.TIMEOUT = question.pop("timeout", hub.TIMEOUT)
    try:
        answer = {"folder": str(hub.fetch(**question))}
    except Exception as error:
        answer = {"family": [kind.__name__ for kind in type(error).__mro__], "message": str(error)}
        traceback.print_exc()
    print(json.dumps(answer))
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two tokenizers as they are saved, with company: name -> content."""
    out = []
    for size in (400, 300):
        folder = tmp_path_factory.mktemp("saved")
        BPETokenizer.train(book_text()[:20_000], size, special_tokens=["<|end|>"]).save(folder)
        out.append({path.name: path.read_bytes() for path in folder.iterdir()})
        out[-1] |= {"chat_template.jinja": b"{{ messages }}", "merges.txt": b"#version: 0.2\n", "config.json": b"{}"}
        out[-1] |= {"model.safetensors": b"weights", "modeling.py": b"code", "original/tokenizer.model": b"other"}
    return out


FETCHED = {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "merges.txt"}


class Hub(http.server.ThreadingHTTPServer):
    """repos: name -> revision -> path -> content. `seen` holds the requests, as "GET /path" or "GET /path bytes=9-"."""

    daemon_threads = True

    def __init__(self, repos):
        super().__init__(("127.0.0.1", 0), Handler)
        self.repos, self.seen, self.tokens = repos, [], []
        self.gated = {"org/gated"}
        self.cuts = []  # for each of the next downloads: after how many bytes the connection breaks
        self.branches = {"main": MAIN, "v/1": OLD}
        self.moves = {}  # the file at whose download main moves -> the commit to which
        self.status, self.page = 200, None
        self.headers = {}  # what to say instead of the truth

    def files_asked(self, method="GET"):
        return [re.sub(r".*/resolve/\w+/", "", line) for line in self.seen if line.startswith(f"{method} /org")]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        hub, path = self.server, urlsplit(self.path).path
        hub.seen.append(" ".join(filter(None, (self.command, path, self.headers["Range"]))))
        hub.tokens.append(self.headers["Authorization"])
        if hub.status != 200 or hub.page is not None:
            return self.answer(hub.status, body=hub.page or b"")
        if path.startswith(("/api/models/renamed", "/renamed")):
            return self.answer(307, {"Location": path.replace("renamed", "org/public")})
        found = re.fullmatch(r"/api/models/(?P<repo>.+?)/(?P<what>revision|tree)/(?P<revision>[^/]+)", path)
        found = found or re.fullmatch(r"/(?P<repo>.+?)/(?P<what>resolve)/(?P<revision>[^/]+)/(?P<file>.+)", path)
        repo, what, revision = found["repo"], found["what"], unquote(found["revision"])
        if repo not in hub.repos:
            if self.headers["Authorization"] is None:  # to strangers the Hub doesn't say what it has
                return self.answer(401, {"X-Error-Message": "Invalid username or password."})
            return self.answer(404, {"X-Error-Code": "RepoNotFound"})
        revisions = hub.repos[repo]
        commit = hub.branches.get(revision, revision)
        if commit not in revisions:
            return self.answer(404, {"X-Error-Code": "RevisionNotFound"})
        files = revisions[commit]
        if what == "revision":
            siblings = [{"rfilename": name} for name in files]
            return self.json({"id": repo, "sha": commit, "siblings": siblings[:1_001]})
        if what == "tree":
            entries = [{"type": "file", "path": name, "size": 1, "oid": "0"} for name in files if "/" not in name]
            return self.json([*entries, {"type": "directory", "path": "original", "oid": "0"}])
        if repo in hub.gated and self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self.answer(401, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."})
        name = unquote(found["file"])
        if name not in files:
            return self.answer(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
        if self.command == "GET":
            hub.branches["main"] = hub.moves.get(name, hub.branches["main"])
        self.file(files[name], commit)

    def json(self, data):
        self.answer(200, {"Content-Type": "application/json"}, json.dumps(data).encode())

    def file(self, content, commit):
        head = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        head |= self.server.headers
        if self.command == "HEAD":
            return self.answer(200, head, content)
        start = int(re.sub(r"\D", "", self.headers["Range"] or "0"))
        cut = self.server.cuts.pop(0) if self.server.cuts else None
        if cut == 0:
            self.close_connection = True
        elif start:
            last = len(content) - 1
            self.answer(206, head | {"Content-Range": f"bytes {start}-{last}/{last + 1}"}, content[start:], cut)
        else:
            self.answer(200, head, content, cut)

    def answer(self, status, headers=None, body=b"", cut=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:cut])
        if cut is not None:
            self.close_connection = True


@pytest.fixture
def hub(saved):
    new, old = saved
    server = Hub({"org/public": {MAIN: dict(new), OLD: dict(old)}, "org/gated": {MAIN: dict(new)}})
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def ask(home, endpoint, *questions, child=CHILD, **settings):
    """What `fetch`, or what `child` calls, answers to each question in a new process, whose cache is in `home`. No
    token is in its output."""
    if isinstance(endpoint, Hub):
        endpoint = f"http://127.0.0.1:{endpoint.server_port}"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING", "XDG_"))}
    clean |= {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1", "NO_PROXY": "*"}
    done = subprocess.run(
        [sys.executable, "-c", child],
        input=json.dumps(questions),
        cwd=ROOT,
        env=clean | settings,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "secret" not in (done.stdout + done.stderr).lower()
    print(done.stderr)  # for who reads a failure
    return [json.loads(line) for line in done.stdout.splitlines()]


def names(folder):
    return {path.name for path in Path(folder).iterdir()}


def in_cache(home):
    return {path.name for path in Path(home).rglob("*") if "snapshots" in path.parts and not path.is_dir()}


PUBLIC = {"repo_or_path": "org/public"}


# -- what is fetched ---------------------------------------------------------------------------------------------------


def test_a_tokenizer_and_nothing_else(hub, saved, tmp_path):
    (answer,) = ask(tmp_path, hub, PUBLIC)
    assert names(answer["folder"]) == FETCHED
    assert {name: (Path(answer["folder"]) / name).read_bytes() for name in FETCHED} == {
        name: saved[0][name] for name in FETCHED
    }
    tokenizer = BPETokenizer.from_pretrained(answer["folder"])
    assert tokenizer.n_vocab == 400
    assert tokenizer.decode(tokenizer.encode("the harbour")) == "the harbour"
    assert set(hub.files_asked()) == FETCHED
    assert hub.files_asked()[-1] == VOCABULARY


def test_revisions(hub, tmp_path):
    asked = ("v/1", OLD, MAIN, "main", None)
    answers = ask(tmp_path, hub, *(PUBLIC | {"revision": revision} for revision in asked))
    sizes = [BPETokenizer.from_pretrained(answer["folder"]).n_vocab for answer in answers]
    assert sizes == [300, 300, 400, 400, 400]
    assert [Path(answer["folder"]).name for answer in answers] == [OLD, OLD, MAIN, MAIN, MAIN]
    assert len(hub.files_asked()) == len(FETCHED) + 1  # of the older commit, all but the vocabulary is the same


def test_a_repository_that_was_renamed(hub, tmp_path):
    (answer,) = ask(tmp_path, hub, {"repo_or_path": "renamed"})
    assert BPETokenizer.from_pretrained(answer["folder"]).n_vocab == 400


def test_a_long_list_is_read_from_the_tree(hub, tmp_path):
    files = hub.repos["org/public"][MAIN]
    hub.repos["org/public"][MAIN] = {f"shard-{number:05}": b"" for number in range(1_200)} | files
    (answer,) = ask(tmp_path, hub, PUBLIC)
    assert names(answer["folder"]) == FETCHED


def test_a_branch_that_moves_while_it_is_read(hub, tmp_path):
    hub.moves = {"tokenizer_config.json": OLD}
    first, second = ask(tmp_path, hub, PUBLIC, PUBLIC)
    assert [Path(answer["folder"]).name for answer in (first, second)] == [MAIN, OLD]
    assert [BPETokenizer.from_pretrained(answer["folder"]).n_vocab for answer in (first, second)] == [400, 300]
    assert ask(tmp_path, hub, PUBLIC, HF_HUB_OFFLINE="1") == [second]


def test_the_cache_can_be_elsewhere(hub, tmp_path):
    (answer,) = ask(tmp_path / "home", hub, PUBLIC | {"cache_dir": str(tmp_path / "here")})
    assert Path(answer["folder"]).is_relative_to(tmp_path / "here")


# -- tokens ------------------------------------------------------------------------------------------------------------


def test_gated(hub, tmp_path):
    gated = {"repo_or_path": "org/gated"}
    without, wrong, right = ask(
        tmp_path, hub, gated, gated | {"token": "hf_wrongSECRET"}, gated | {"token": TOKEN}, HF_TOKEN=""
    )
    for answer in (without, wrong):
        assert "BPELabError" in answer["family"]
        assert re.search(r"'org/gated' is gated: ask for access at http.*/org/gated, then .*token=", answer["message"])
    assert names(right["folder"]) == FETCHED
    (answer,) = ask(tmp_path / "other", hub, gated, HF_TOKEN=TOKEN)
    assert names(answer["folder"]) == FETCHED
    hub.tokens.clear()
    ask(tmp_path / "third", hub, PUBLIC | {"token": False}, HF_TOKEN=TOKEN)
    assert set(hub.tokens) == {None}


@pytest.mark.parametrize("token", [TOKEN + "\n", TOKEN + " x", "", "héSECRET"])
def test_tokens_that_are_none(token):
    with pytest.raises(ValueError, match="the token is empty or has") as caught:
        fetch("org/public", token=token)
    assert "SECRET" not in str(caught.value)


# -- what goes wrong at the Hub ----------------------------------------------------------------------------------------

MISSING = {"repo_or_path": "org/missing"}
EMPTY = {"repo_or_path": "org/empty"}
WRONG = {
    "missing repository": (MISSING, r"'org/missing' was refused .*\(401\): there is no such .* token="),
    "the same with a token": (MISSING | {"token": TOKEN}, "'org/missing' is neither .* nor a repository that you may"),
    "missing revision": (PUBLIC | {"revision": "v9"}, "'org/public' has no revision 'v9'"),
    "missing commit": (PUBLIC | {"revision": "d" * 40}, "has no revision 'ddd"),
    "no tokenizer": (EMPTY, r"has no tokenizer .* none of tokenizer.json, .*\*.tiktoken is among its 3"),
    "no token": (PUBLIC | {"token": True}, "needs a token to be read, but none was found"),
    "three parts": ({"repo_or_path": "a/b/c"}, "'a/b/c' is neither a file or folder here nor the name of a repo"),
    "dots": ({"repo_or_path": "a..b"}, "nor the name of a repository"),
    "nothing": ({"repo_or_path": ""}, "nor the name of a repository"),
    "a cache in a file": (PUBLIC | {"cache_dir": f"{__file__}/x"}, "could not be fetched into the cache"),
}  # fmt: skip


@pytest.fixture(scope="module")
def wrong_answers(saved, tmp_path_factory):
    useless = dict.fromkeys(("config.json", "tokenizer_config.json", "merges.txt"), b"{}")
    server = Hub({"org/public": {MAIN: saved[0]}, "org/empty": {MAIN: useless}})
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    answers = ask(tmp_path_factory.mktemp("home"), server, *(question for question, _ in WRONG.values()))
    server.shutdown()
    server.server_close()
    return dict(zip(WRONG, answers))


@pytest.mark.parametrize("case", WRONG)
def test_what_goes_wrong(wrong_answers, case):
    answer = wrong_answers[case]
    assert "BPELabError" in answer["family"], answer
    assert re.search(WRONG[case][1], answer["message"])


@pytest.mark.parametrize(
    ("status", "message"),
    [(500, r"\(500\), and no whole copy"), (429, r"\(429\)"), (403, r"\(403\): there is no such")],
)
def test_a_hub_in_trouble(hub, tmp_path, status, message):
    hub.status = status
    (answer,) = ask(tmp_path, hub, PUBLIC)
    assert re.search(message, answer["message"])


def test_a_copy_serves_while_the_hub_is_in_trouble(hub, tmp_path):
    first = ask(tmp_path, hub, PUBLIC)
    hub.status = 503
    assert ask(tmp_path, hub, PUBLIC) == first


def test_an_answer_that_is_not_the_hubs(hub, tmp_path):
    hub.page = b"<html>Welcome to the train's network</html>"
    (answer,) = ask(tmp_path, hub, PUBLIC)
    assert "didn't answer like the Hub" in answer["message"]


# -- no network --------------------------------------------------------------------------------------------------------


def test_offline(hub, tmp_path):
    def offline(*questions):
        return ask(tmp_path, "http://127.0.0.1:9", *questions, HF_HUB_OFFLINE="1")

    (answer,) = offline(PUBLIC)
    assert "BPELabError" in answer["family"]
    assert "in the cache, and HF_HUB_OFFLINE forbids" in answer["message"]
    (fetched,) = ask(tmp_path, hub, PUBLIC)
    same, commit, other = offline(PUBLIC, PUBLIC | {"revision": MAIN}, PUBLIC | {"revision": "v/1"})
    assert same == commit == fetched
    assert "at the revision 'v/1' in the cache" in other["message"]


def test_the_cache_is_used_again(hub, tmp_path):
    first = ask(tmp_path, hub, PUBLIC)
    hub.seen.clear()
    assert ask(tmp_path, hub, PUBLIC, PUBLIC | {"revision": MAIN}) == first * 2
    assert hub.files_asked() == []
    assert len(hub.seen) == 3  # two lists, and one look at whether the branch has moved


@pytest.mark.slow
def test_connection_refused(hub, tmp_path):
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
        (answer,) = ask(tmp_path, nobody, PUBLIC)
        assert re.search(r"could not be fetched from .*\(Connect\w+\).*check the connection", answer["message"])
        first = ask(tmp_path, hub, PUBLIC)
        assert ask(tmp_path, nobody, PUBLIC) == first


@pytest.mark.slow
def test_a_host_that_does_not_exist_and_one_that_is_silent(tmp_path):
    (answer,) = ask(tmp_path, "http://no-such-host.invalid", PUBLIC)
    assert "check the connection" in answer["message"]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (answer,) = ask(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}", PUBLIC | {"timeout": 2})
    assert "(ReadTimeout)" in answer["message"]


def test_a_download_that_breaks_off_goes_on(hub, saved, tmp_path):
    content = saved[0][VOCABULARY] + b" " * (CHUNK + 1_000)
    hub.repos["org/public"][MAIN] = {VOCABULARY: content}
    hub.cuts = [CHUNK + 500]
    (answer,) = ask(tmp_path, hub, PUBLIC)
    assert hub.files_asked() == [VOCABULARY, f"{VOCABULARY} bytes={CHUNK}-"]
    assert (Path(answer["folder"]) / VOCABULARY).read_bytes() == content


@pytest.mark.slow
def test_nothing_half_written_is_used(hub, tmp_path):
    hub.cuts = [None, None, None, 100, 0]  # the vocabulary comes last; it breaks off, and then the server refuses
    (answer,) = ask(tmp_path, hub, PUBLIC)
    assert "BPELabError" in answer["family"]
    assert "check the connection and try again" in answer["message"]
    assert in_cache(tmp_path) == FETCHED - {VOCABULARY}
    assert not list(tmp_path.rglob("*.incomplete"))
    (answer,) = ask(tmp_path, hub, PUBLIC, HF_HUB_OFFLINE="1")
    assert "has no tokenizer" in answer["message"]
    hub.seen.clear()
    (answer,) = ask(tmp_path, hub, PUBLIC)
    assert names(answer["folder"]) == FETCHED
    assert hub.files_asked() == [VOCABULARY]


def test_a_file_of_another_length_than_announced(hub, tmp_path):
    hub.headers = {"X-Linked-Size": "7"}
    (answer,) = ask(tmp_path, hub, PUBLIC)
    assert "file should be of size 7" in answer["message"]
    assert in_cache(tmp_path) == set()


# -- a server that means ill -------------------------------------------------------------------------------------------


def test_names_that_would_leave_the_folder(hub, tmp_path):
    hub.repos["org/public"][MAIN] |= dict.fromkeys([*EVIL, "sub/tokenizer.json"], b"evil")
    (answer,) = ask(tmp_path / "a" / "b", hub, PUBLIC)
    assert names(answer["folder"]) == FETCHED
    assert set(hub.files_asked()) == FETCHED
    assert not list(tmp_path.rglob("*evil*"))


def test_a_commit_that_would_leave_the_folder(hub, tmp_path):
    hub.headers = {"X-Repo-Commit": "../../../../../evil"}
    (answer,) = ask(tmp_path / "a" / "b", hub, PUBLIC)
    assert "BPELabError" in answer["family"]
    assert names(tmp_path) <= {"a"}
    assert not list(tmp_path.rglob("*evil*"))


# -- what is here ------------------------------------------------------------------------------------------------------


def test_local_paths_need_nothing(tmp_path):
    program = (
        "import sys; sys.modules['huggingface_hub'] = sys.modules['httpx'] = None\n"
        "from bpelab.formats.hub import fetch; print(fetch('here'), fetch('here/tokenizer.json'), fetch('org/name'))"
    )
    for name in ("here/tokenizer.json", "org/name/x"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.replace("\\", "/").split() == ["here", "here/tokenizer.json", "org/name"], done.stderr


def test_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "t").mkdir()
    assert fetch("~/t") == tmp_path / "t"


@pytest.mark.parametrize(
    "name", ["./x", "../x", "/no/such", "~/no/such", "a\\b", "C:/x", "./a\0b", "./" + "x" * 5_000, Path("org/name")]
)
def test_paths_that_do_not_exist(name):
    with pytest.raises(TokenizerFileError, match="there is no such file or folder"):
        fetch(name)


def test_revisions_that_can_not_be(tmp_path):
    with pytest.raises(ValueError, match="has no revision 'main'"):
        fetch(tmp_path, revision="main")
    for revision in ("../../x", "/x", "a\\b", "a b", ""):
        with pytest.raises(ValueError, match="can't be a revision"):
            fetch("org/public", revision=revision)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("hub"))) as caught:
        fetch("org/public")
    assert isinstance(caught.value, BPELabError)


def test_from_huggingface_takes_a_local_folder(tmp_path):
    tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    tokenizer.save(tmp_path)
    assert BPETokenizer.from_huggingface(tmp_path).encode("lowest") == tokenizer.encode("lowest")
    with pytest.raises(ValueError, match="has no revision"):
        BPETokenizer.from_huggingface(str(tmp_path), revision="main")


def test_a_name_of_the_hub_or_of_tiktoken_is_told_from_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hub, theirs = 'call from_huggingface("{}")', 'for tiktoken\'s, call from_tiktoken("{}")'
    tiktoken = pytest.importorskip("tiktoken")
    for name in ("gpt2", "gpt-4o", "cl100k_base", "Qwen/Qwen2.5-0.5B"):
        with pytest.raises(TokenizerFileError, match="no such file or folder; if it is a repository") as caught:
            BPETokenizer.from_pretrained(name)
        known = name in tiktoken.list_encoding_names() or name in tiktoken.model.MODEL_TO_ENCODING
        assert hub.format(name) in str(caught.value) and (theirs.format(name) in str(caught.value)) == known
    for name, meant in (("GPT-4", "gpt-4"), ("cl100k", "cl100k_base")):
        with pytest.raises(TokenizerFileError, match=rf"from_tiktoken\(\"{meant}\"\)$"):
            BPETokenizer.from_pretrained(name)
    for path in (
        "./gpt2",
        str(tmp_path / "gpt2"),
        "gpt2/",
        "a/b/c",
        "tokenizer.json",
        "model.gguf",
        "a b",
        Path("x/y/z"),
    ):
        with pytest.raises(TokenizerFileError, match=r"there is no such file or folder$"):
            BPETokenizer.from_pretrained(path)
