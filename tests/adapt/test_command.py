"""`bpelab adapt`: the plan, the folder, what is measured, and wrong usage."""

import json
import subprocess
import sys

import pytest

from bpelab import BPETokenizer
from bpelab.chat.models.find import SHIPPED
from bpelab.cli.main import main
from bpelab.notebook import book_text

from .models import tensors_of, write_model


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "notes.txt"
    path.write_text(book_text()[:12_000], encoding="utf-8")
    return path


def test_a_corpus(corpus, tmp_path, capsys):
    words = ["adapt", str(SHIPPED), "--corpus", str(corpus), "--add", "60", "--out", str(tmp_path / "new")]
    assert main([*words, "--dry-run"]) == 0
    plan = capsys.readouterr().out
    assert "tokens            1,024 -> 1,084" in plan and "1,024 copied, 60 made" in plan
    assert list(tmp_path.iterdir()) == []
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.startswith(plan) and f"{tmp_path / 'new'}: written" in out
    held_out = len(book_text()[:12_000].encode()) // 10
    assert "tokens per byte" in out and "bits per byte" in out and "not measured" not in out
    measured = int(out.rsplit(" bytes", 1)[0].rsplit(" ", 1)[1].replace(",", ""))
    assert 0.5 * held_out < measured < 2 * held_out
    assert len(BPETokenizer.from_pretrained(tmp_path / "new")) == 1_084
    assert main(words) == 1
    assert "exists already" in capsys.readouterr().err


def test_a_tokenizer(tmp_path, capsys):
    old = BPETokenizer.train(book_text()[:9_000], 300, pattern="gpt2", special_tokens=["<|end|>"], eos_token="<|end|>")
    write_model(tmp_path / "old", old, tensors_of(old))
    old.with_special_tokens(["<|tool|>"]).save(tmp_path / "tok")
    (tmp_path / "unseen.txt").write_text("the harbour and the tide")
    words = ["adapt", str(tmp_path / "old"), "-t", str(tmp_path / "tok"), "--json", "--pad-to-multiple-of", "64"]
    assert (
        main([*words, "--out", str(tmp_path / "new"), "--text", str(tmp_path / "unseen.txt"), "--rows", "average"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert (found["rows_after"], found["rows_made"], found["rule"]) == (320, 1, "average")
    assert found["measured"]["bytes"] == 24 and found["measured"]["bits_after"] is None
    assert "no backend can run" in found["measured"]["problem"]
    assert found["matrices"] == ["model.embed_tokens.weight", "lm_head.weight"]
    assert main([*words, "--out", str(tmp_path / "quiet"), "--quiet", "--old-tokenizer", str(tmp_path / "tok")]) == 0
    assert json.loads(capsys.readouterr().out)["rows_made"] == 1  # of the last id, which the model has no row for


def test_wrong_usage(corpus, tmp_path, capsys):
    for words, message in (
        (["--out", "x"], "name what the new tokens come from"),
        (["--corpus", str(corpus), "--out", "x"], "--corpus and --add belong together"),
        (["--tokenizer", "t", "--add", "5", "--out", "x"], "--corpus and --add belong together"),
        (["--tokenizer", "t", "--corpus", str(corpus), "--add", "5", "--out", "x"], "name what the new tokens come"),
        (["--tokenizer", str(SHIPPED)], "--out is missing"),
        (["--tokenizer", str(SHIPPED), "--dry-run", "--rows", "men"], "rows is one of 'mean', 'average', 'normal'"),
        (["--corpus", "none.txt", "--add", "5", "--dry-run"], "none.txt"),
        (["--corpus", str(corpus), "--add", "0", "--dry-run"], "1"),
    ):
        assert main(["adapt", str(SHIPPED), *words]) == 1, words
        said = capsys.readouterr().err
        assert message in said and said.startswith("bpelab: ") and said.count("\n") == 1, said
    assert main(["adapt", str(tmp_path / "none"), "--tokenizer", str(SHIPPED), "--dry-run"]) == 1
    assert "there is no such file" in capsys.readouterr().err


MEMORY = """
import resource, sys
from bpelab import BPETokenizer
from bpelab.adapt import adapt_model, plan_adaptation
new = BPETokenizer.from_pretrained(sys.argv[1]).with_special_tokens(["<|tool|>"])
plan = plan_adaptation(sys.argv[1], new)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
adapt_model(plan, None, sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the system counts memory in other units")
def test_memory_stays_below_one_matrix(tmp_path):
    """Of two matrices of 128 MiB each, and a layer of as much, a few MiB are in memory at once."""
    import numpy as np

    old = BPETokenizer.train(book_text()[:9_000], 300, pattern="gpt2", special_tokens=["<|end|>"])
    tensors = {
        name: ("F32", np.zeros((65_536, 512), np.float32))
        for name in ("model.embed_tokens.weight", "lm_head.weight", "model.layers.0.mlp.up_proj.weight")
    }
    tensors["model.layers.0.mlp.up_proj.weight"][1].shape = (32_768, 1_024)
    folder = write_model(tmp_path / "old", old, tensors)
    words = [sys.executable, "-c", MEMORY, str(folder), str(tmp_path / "new")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 64 << 10, f"{int(done.stdout):,} KiB"
