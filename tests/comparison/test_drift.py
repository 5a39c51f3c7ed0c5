"""Ids that drift are named, each run of them: compared with encoding again, on random spellings."""

from random import Random

import pytest

from bpelab import BPETokenizer, TemplateProcessing
from bpelab.errors import UnknownTokenError
from bpelab.normalizers import Lowercase

from ..random_tokenizers import KINDS, random_text, random_tokenizer


@pytest.fixture
def tokenizer():
    names = ["<s>", "</s>"]
    return BPETokenizer.train("low lower lowest 123 12 " * 9, 266, special_tokens=names)


def respelled(rng, tokenizer, ids):
    """The same bytes in other tokens: some tokens are cut in two that exist."""
    made = []
    for token_id in ids:
        token = tokenizer.model.tokens.get(token_id, b"")
        cuts = [
            (tokenizer.model.ids[token[:at]], tokenizer.model.ids[token[at:]])
            for at in range(1, len(token))
            if token[:at] in tokenizer.model.ids and token[at:] in tokenizer.model.ids
        ]
        made += rng.choice(cuts) if cuts and rng.random() < 0.4 else [token_id]
    return made


def repaired(ids, runs):
    """The ids with each run replaced by what it is encoded as."""
    ids = list(ids)
    for run in reversed(runs):
        assert tuple(ids[run.start : run.start + len(run.ids)]) == run.ids
        ids[run.start : run.start + len(run.ids)] = run.encoded
    return ids


@pytest.mark.filterwarnings("ignore:training stopped")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("scores", "file of characters", "suffix")])
def test_runs_are_what_encoding_again_changes(kind):
    rng, drifted = Random(kind), 0
    for _ in range(40):
        tokenizer, text = random_tokenizer(rng, kind), random_text(rng)
        ids = tokenizer.encode(text)
        assert tokenizer.drift(ids) == []
        other = respelled(rng, tokenizer, ids)
        runs = tokenizer.drift(other)
        drifted += bool(runs)
        assert bool(runs) == (other != ids)
        assert repaired(other, runs) == ids
        for run in runs:  # the same bytes, and no shorter run inside
            assert run.text.encode() == tokenizer.decode_bytes(run.ids).decode("utf-8", "replace").encode()
            assert tokenizer.decode_bytes(run.ids) == tokenizer.decode_bytes(run.encoded)
            assert run.ids[0] != run.encoded[0] and run.ids[-1] != run.encoded[-1]
        assert all(a.start + len(a.ids) < b.start for a, b in zip(runs, runs[1:]))
    assert drifted >= 5


def test_special_tokens_are_what_they_are(tokenizer):
    start, end = map(tokenizer.token_to_id, ("<s>", "</s>"))
    ids = [start, *tokenizer.encode("lowest"), end]
    assert tokenizer.drift(ids) == []
    spelled = list(b"</s>")
    assert tokenizer.drift([*tokenizer.encode("low"), *spelled]) == []  # text, and no one asked for the token
    (run,) = tokenizer.drift([end, *spelled])
    assert (run.start, run.ids, run.encoded) == (1, tuple(spelled), (end,))


def test_what_is_put_around_a_text_is_left_out(tokenizer):
    framed = tokenizer.with_options(post_processor=TemplateProcessing("<s> $0 </s>"))
    ids = framed.encode("low 123")
    assert framed.drift(ids) == [] and framed.drift(ids[1:]) == [] and framed.drift(ids[1:-1]) == []
    (run,) = framed.drift([ids[0], *b"low", *ids[2:]])
    assert (run.start, run.ids, run.encoded, run.text) == (1, tuple(b"low"), (ids[1],), "low")


def test_what_is_no_text_or_becomes_another(tokenizer):
    (run,) = tokenizer.drift([*tokenizer.encode("low"), 0xE6, 0x97, 97])
    assert (run.start, run.ids, run.encoded) == (1, (0xE6, 0x97), tuple("\ufffd".encode()))
    (run,) = tokenizer.with_options(normalizer=Lowercase()).drift([*b"12 Z", 97])
    assert run.start == 0 or run.ids == (90,)
    assert tokenizer.drift([]) == []
    with pytest.raises(UnknownTokenError):
        tokenizer.drift([9_999])


@pytest.mark.filterwarnings("ignore:training stopped")
def test_a_file_with_a_decoder_of_its_own():
    for seed in range(20):
        rng = Random(seed)
        tokenizer = random_tokenizer(rng, rng.choice(("scores", "file of characters")))
        text = tokenizer.decode(tokenizer.encode(random_text(rng), add_special_tokens=False))
        ids = tokenizer.encode(text)
        runs = tokenizer.drift(ids)
        assert bool(runs) == (tokenizer.encode(tokenizer.decode(ids), add_special_tokens=False) != ids)
        assert len(runs) <= 1
