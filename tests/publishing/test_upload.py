"""Uploads, to a server on this machine that speaks as much of the Hub's protocol as huggingface_hub needs for them.

What is not tested: the Hub itself, and Xet, its newer way for large files. The server asks for plain git blobs, or for
large files by Git LFS, which huggingface_hub uses where Xet is turned off.
"""

import base64
import json
import re
import shlex
import shutil
import sys
import threading
from hashlib import sha256

import pytest

from bpelab import BPETokenizer, PublishingError
from bpelab._support.install import install_command
from bpelab.notebook import passages
from bpelab.publishing import publish, upload
from bpelab.publishing.folder import write_hashes

from ..formats.test_hub import MAIN, TOKEN, Handler, Hub, ask

pytest.importorskip("huggingface_hub")

CHILD = """
import json, sys, traceback
from bpelab.publishing import upload
for question in json.load(sys.stdin):
    try:
        answer = {"page": upload(**question)}
    except Exception as error:
        answer = {"kind": type(error).__name__, "message": str(error)}
    print(json.dumps(answer))
"""
FETCH = """
import json, sys
from bpelab import BPETokenizer
for question in json.load(sys.stdin):
    print(json.dumps(BPETokenizer.from_huggingface(**question).encode("the harbour <|end|>")))
"""


class Uploads(Hub):
    """A Hub that can be written to. `large` are suffixes of files that it wants by LFS; `refuse` is path -> status."""

    def __init__(self):
        super().__init__({})
        self.RequestHandlerClass = Writing
        self.private, self.stored, self.large, self.refuse, self.commits = {}, {}, (), {}, []


class Writing(Handler):
    def do_POST(self):
        hub, body = self.server, self.rfile.read(int(self.headers["Content-Length"] or 0))
        path = self.path.partition("?")[0]
        hub.seen.append(f"POST {path}")
        for part, status in hub.refuse.items():
            if part in path:
                return self.answer(status, {"X-Error-Message": f"no {part} for {self.headers['Authorization']}"})
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self.answer(401, {"X-Error-Message": "Invalid username or password."})
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked.get('organization') or 'me'}/{asked['name']}"
            url = f"http://127.0.0.1:{hub.server_port}/{name}"
            if name in hub.repos:
                return self.answer(409, {"Content-Type": "application/json"}, json.dumps({"url": url}).encode())
            hub.repos[name], hub.private[name] = {MAIN: {}}, asked["visibility"]
            return self.json({"url": url, "name": name, "id": name})
        if path == "/api/validate-yaml":
            return self.json({"errors": [], "warnings": []})
        if found := re.fullmatch(r"/api/models/(.+)/preupload/main", path):
            files = json.loads(body)["files"]
            modes = ["lfs" if file["path"].endswith(hub.large) and hub.large else "regular" for file in files]
            answers = [
                {"path": file["path"], "uploadMode": mode, "shouldIgnore": False} for file, mode in zip(files, modes)
            ]
            return self.json({"files": answers})
        if path.endswith("/info/lfs/objects/batch"):
            objects = json.loads(body)["objects"]
            link = f"http://127.0.0.1:{hub.server_port}/lfs/"
            return self.json(
                {
                    "transfer": "basic",
                    "objects": [{**each, "actions": {"upload": {"href": link + each["oid"]}}} for each in objects],
                }
            )
        found = re.fullmatch(r"/api/models/(.+)/commit/main", path)
        files = hub.repos[found[1]][MAIN]
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "header":
                hub.commits.append(value["summary"])
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = hub.stored[value["oid"]]
        page = f"http://127.0.0.1:{hub.server_port}/{found[1]}/commit/{MAIN}"
        self.json({"success": True, "commitOid": MAIN, "commitUrl": page, "hookOutput": ""})

    def do_PUT(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append("PUT /lfs")
        self.server.stored[sha256(content).hexdigest()] = content
        self.answer(200)


@pytest.fixture
def server():
    hub = Uploads()
    threading.Thread(target=hub.serve_forever, args=(0.02,), daemon=True).start()
    yield hub
    hub.shutdown()
    hub.server_close()


@pytest.fixture(scope="module")
def tokenizer():
    return BPETokenizer.train(
        "\n\n".join(passages("stories").values()), 600, pattern="gpt2", special_tokens=["<|end|>"]
    )


@pytest.fixture(scope="module")
def folder(tokenizer, tmp_path_factory):
    path = tmp_path_factory.mktemp("home") / "harbour"
    publish(tokenizer, path, "\n\n".join(passages("letters").values()))
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_arrives_as_it_is_and_can_be_fetched(server, folder, tokenizer, tmp_path):
    said = ask(tmp_path, server, {"folder": str(folder), "repo": "me/harbour", "token": TOKEN}, child=CHILD)
    assert said == [{"page": f"http://127.0.0.1:{server.server_port}/me/harbour"}]
    assert server.repos["me/harbour"][MAIN] == contents(folder)
    assert server.private == {"me/harbour": "private"}
    assert server.commits == ["A tokenizer, published with bpelab"]  # one, so nobody finds half of it
    fetched = ask(tmp_path, server, {"repo_or_path": "me/harbour"}, child=FETCH)
    assert fetched == [tokenizer.encode("the harbour <|end|>")]


COMMANDS = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from bpelab.cli.main import main
for words in json.load(sys.stdin):
    with redirect_stdout(StringIO()) as out, redirect_stderr(out):
        code = main(words)
    print(json.dumps([code, out.getvalue().splitlines()[-1]]))
"""


def test_on_the_command_line_what_was_written_is_uploaded_later(server, folder, tmp_path):
    """First nobody answers; then the folder that is there goes out, and is not written again."""
    (tmp_path / "text.txt").write_bytes((folder / "held-out.txt").read_bytes())
    out, page = str(tmp_path / "a harbour"), f"http://127.0.0.1:{server.server_port}/me/harbour"
    publish = ["publish", str(folder), out, "--text", str(tmp_path / "text.txt"), "--upload", "me/harbour"]
    ((code, said),) = ask(tmp_path, "http://127.0.0.1:9", publish, child=COMMANDS, HF_TOKEN=TOKEN)
    again = f"bpelab upload '{out}' me/harbour"
    assert code == 1 and "could not be uploaded" in said and f"the folder is written: `{again}` uploads it" in said
    files = contents(tmp_path / "a harbour")
    words = shlex.split(again)[1:]
    said = ask(tmp_path, server, words, words, [*words, "--update"], child=COMMANDS, HF_TOKEN=TOKEN)
    assert said[0] == [0, page]
    assert said[1][0] == 1 and "exists already, and was left unchanged: with --update its files" in said[1][1]
    assert said[2] == [0, page]
    assert server.repos["me/harbour"][MAIN] == files == contents(tmp_path / "a harbour")
    assert server.private == {"me/harbour": "private"}


def test_large_files_go_by_lfs(server, folder, tmp_path):
    server.large = (".gguf",)
    question = {"folder": str(folder), "repo": "harbour", "token": TOKEN, "private": False}
    said = ask(tmp_path, server, question, child=CHILD, HF_HUB_DISABLE_XET="1")
    assert said[0]["page"].endswith("/me/harbour")
    assert server.repos["me/harbour"][MAIN] == contents(folder)
    assert server.private == {"me/harbour": "public"}
    assert server.seen.count("PUT /lfs") == 1


def test_a_repository_that_is_there_is_left_alone_unless_told_otherwise(server, folder, tmp_path):
    server.repos["me/harbour"] = {MAIN: {"README.md": b"somebody's", "model.safetensors": b"weights"}}
    question = {"folder": str(folder), "repo": "me/harbour", "token": TOKEN}
    said = ask(tmp_path, server, question, {**question, "update": True}, child=CHILD)
    assert said[0]["kind"] == "PublishingError"
    assert "exists already, and was left unchanged" in said[0]["message"]
    assert said[1]["page"].endswith("/me/harbour")
    assert server.repos["me/harbour"][MAIN] == {"model.safetensors": b"weights", **contents(folder)}


def test_refusals_say_what_to_do_and_hide_the_token(server, folder, tmp_path):
    question = {"folder": str(folder), "repo": "me/harbour", "token": TOKEN}
    said = ask(tmp_path, server, {**question, "token": "hf_other"}, {**question, "repo": "a/b/c"}, child=CHILD)
    assert "was refused (401)" in said[0]["message"]
    assert "is not the name of a repository" in said[1]["message"]
    assert server.repos == {}
    server.refuse = {"/commit/": 403}
    message = ask(tmp_path, server, question, child=CHILD)[0]["message"]
    assert "was refused (403)" in message
    assert "It was created, and may have no files" in message
    assert server.repos == {"me/harbour": {MAIN: {}}}


def test_without_a_connection_or_offline(folder, tmp_path):
    question = {"folder": str(folder), "repo": "me/harbour", "token": TOKEN}
    said = ask(tmp_path, "http://127.0.0.1:9", question, child=CHILD)
    assert "could not be uploaded" in said[0]["message"]
    said = ask(tmp_path, "http://127.0.0.1:9", question, child=CHILD, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE forbids it" in said[0]["message"]


def test_without_a_token_nothing_is_asked(server, folder, tmp_path):
    said = ask(tmp_path, server, {"folder": str(folder), "repo": "me/harbour"}, child=CHILD)
    assert "nothing was uploaded: there is no token" in said[0]["message"]
    assert server.seen == []


def test_a_folder_that_was_changed_is_refused_before_all_else(folder, tmp_path, monkeypatch):
    """Here huggingface_hub must not even be asked for a token."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "README.md").write_text("other", encoding="utf-8")
    with pytest.raises(PublishingError, match=r"differs from SHA256SUMS: README\.md"):
        upload(copy, "me/harbour", token=TOKEN)
    (copy / "README.md").unlink()
    write_hashes(copy)
    with pytest.raises(PublishingError, match=r"has no README\.md"):
        upload(copy, "me/harbour", token=TOKEN)
    with pytest.raises(PublishingError, match="has no SHA256SUMS"):
        upload(tmp_path / "none", "me/harbour", token=TOKEN)
    with pytest.raises(ImportError, match=re.escape(install_command("hub"))):
        upload(folder, "me/harbour", token=TOKEN)
