"""`bpelab diff`: what it prints, and its exit codes."""

import json

from bpelab import BPETokenizer
from bpelab.cli.main import main


def saved(tmp_path):
    """Two tokenizers in folders, which cut numbers differently."""
    first = BPETokenizer.train("low lower lowest 123 12 " * 9, 264)
    first.save(tmp_path / "a")
    first.with_options(pattern="qwen2").save(tmp_path / "b")
    return str(tmp_path / "a"), str(tmp_path / "b")


def test_diff(tmp_path, capsys):
    one, two = saved(tmp_path)
    assert main(["diff", one, one]) == 0
    assert capsys.readouterr().out == "equal: the same parts\n"
    (tmp_path / "corpus.txt").write_text("low\n12\n1 2\n123 lower\n")
    assert main(["diff", one, two, "--corpus", str(tmp_path / "corpus.txt")]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "different"
    assert said[1].startswith("the shortest text found: '12' has the ids [")
    assert said[2].startswith("the cause: pattern: ")
    assert said[3] == "in the corpus: 2 of 4 lines have different ids (50.00%)"
    assert main(["diff", one, two, "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert (facts["equal"], facts["basis"], facts["text"]) == (False, "example", "12")
    assert facts["parts"][0]["part"] == "pattern"
