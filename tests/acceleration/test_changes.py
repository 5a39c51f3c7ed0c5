"""A tokenizer that is changed after it was accelerated: its next ids are those of the changed one."""

import random
import warnings

import pytest

import bpelab
from bpelab.acceleration import changes, undo
from bpelab.acceleration.engine import Engine

from ..conftest import needs_extension
from ..formats.families import families
from .twins import Twins, tokenizers, transformers

needs_extension()
AddedToken = tokenizers.AddedToken
TEXT = "The harbour <new> sleeps. the<new> bell\nHARBOUR, the é harbour? <|endoftext|>"


def served(pair: Twins) -> bool:
    """Whether the accelerated one still is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pair.fast._bpelab_engine()[1] is not None


def ask(pair: Twins) -> None:
    """Compare what depends on any part of a tokenizer."""
    ids = pair.same(lambda t: t(TEXT))[0]
    pair.same(lambda t: t([TEXT, "the"], return_tensors=None, return_special_tokens_mask=True))
    row = pair.plain(TEXT)["input_ids"] * 3
    for skip in (False, True):
        pair.same(lambda t, skip=skip: t.decode(row, skip_special_tokens=skip))
        pair.same(lambda t, skip=skip: t.decode([row, row[:20]], skip_special_tokens=skip))
    assert ids and len(pair.plain) == len(pair.fast)


def other_model(tokenizer):
    """A model of the same size in which two tokens are exchanged."""
    vocab = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False)
    names = sorted(vocab, key=vocab.get)
    swapped = [names[-1], *names[1:-1], names[0]]
    return tokenizers.models.BPE({name: number for number, name in enumerate(swapped)}, [])


def without_merges(tokenizer):
    """The model with the same tokens, none of which is made."""
    return tokenizers.models.BPE(tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False), [])


def set_part(name, made):
    def change(tokenizer):
        setattr(tokenizer.backend_tokenizer, name, made(tokenizer) if callable(made) else made)

    return change


CHANGES = {
    "a new token": lambda t: t.add_tokens(["<new>"]),
    "a token of the vocabulary": lambda t: t.add_tokens(["he"]),
    "a token with flags": lambda t: t.add_tokens([AddedToken("<new>", lstrip=True, rstrip=True)]),
    "a special token": lambda t: t.add_special_tokens({"sep_token": "<new>"}),
    "a token that becomes special": lambda t: (t.add_tokens(["<new>"]), t("<new>"), t.add_tokens(["<new>"], True)),
    "a pad token": lambda t: t.add_special_tokens({"pad_token": "<new>"}),
    "a token by the backend": lambda t: t.backend_tokenizer.add_tokens(["<new>"]),
    "a token by the private backend": lambda t: t._tokenizer.add_tokens(["<new>"]),
    "a token of the vocabulary by the backend": lambda t: t.backend_tokenizer.add_tokens(["he"]),
    "a special token by the backend": lambda t: t.backend_tokenizer.add_special_tokens(["he"]),
    "the normalizer": set_part("normalizer", tokenizers.normalizers.Lowercase()),
    "no normalizer": set_part("normalizer", None),
    "the pre-tokenizer": set_part("pre_tokenizer", tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)),
    "the post-processor": set_part(
        "post_processor", tokenizers.processors.TemplateProcessing(single="the $A the:1", special_tokens=[("the", 5)])
    ),
    "the decoder": set_part("decoder", tokenizers.decoders.Fuse()),
    "the model": set_part("model", other_model),
    "the merges": set_part("model", without_merges),
    "a special token that nothing makes": lambda t: (
        set_part("model", without_merges)(t),
        t("he"),
        t.add_special_tokens({"sep_token": "he"}),
    ),
    "an option of the model": lambda t: setattr(t.backend_tokenizer.model, "ignore_merges", True),
    "the template": lambda t: (t.add_special_tokens({"bos_token": "<new>"}), setattr(t, "add_bos_token", True)),
    "the side": lambda t: (setattr(t, "padding_side", "left"), setattr(t, "pad_token", "<|endoftext|>")),
    "inputs": lambda t: setattr(t, "model_input_names", ["input_ids"]),
    "splitting": lambda t: setattr(t, "split_special_tokens", True),
    "truncation by the backend": lambda t: t.backend_tokenizer.enable_truncation(3),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("before", [False, True], ids=["at once", "after a call"])
def test_a_change(change, before):
    pair = Twins(families()["gpt2"])
    if before:
        ask(pair)
    pair.change(CHANGES[change])
    ask(pair)
    assert served(pair)
    engine = pair.fast._bpelab_engine()[1]
    assert engine.tokenizer == Engine(engine.content).tokenizer  # of which the model may be an older one's
    pair.change(lambda t: t.add_tokens(["harb"]))
    ask(pair)


@pytest.mark.filterwarnings("ignore:transformers continues without bpelab")
def test_many_changes_in_any_order():
    for seed in range(8):
        rng = random.Random(seed)
        pair = Twins(families()[rng.choice(("gpt2", "llama-2", "qwen-2"))])
        for name in rng.choices(sorted(CHANGES), k=6):
            pair.change(CHANGES[name])
            pair.same(lambda t: t(TEXT), seed, name)
            pair.same(lambda t: t.decode(list(range(40))), seed, name)


def test_a_backend_that_is_kept():
    """Whoever keeps it may change it at any time."""
    pair = Twins(families()["gpt2"])
    kept = [pair.plain.backend_tokenizer, pair.fast.backend_tokenizer]
    ask(pair)
    for change in (lambda b: b.add_tokens(["he"]), lambda b: b.add_special_tokens(["he"])):
        for backend in kept:
            change(backend)
        ask(pair)


def test_what_is_not_served_any_more():
    """It goes on as before, with one warning a change, and is served again when it can be."""
    pair = Twins(families()["gpt2"])
    model = pair.fast.backend_tokenizer.model
    pair.change(lambda t: setattr(t.backend_tokenizer.model, "dropout", 1.0))
    with pytest.warns(
        RuntimeWarning, match=r"transformers continues without bpelab: .* leaves out merges \(dropout=1.0\)"
    ):
        found = pair.fast(TEXT)
    assert found["input_ids"] == pair.plain(TEXT)["input_ids"]
    ask(pair)  # without a warning
    assert not served(pair)
    model.dropout, pair.plain.backend_tokenizer.model.dropout = None, None
    ask(pair)
    assert served(pair)


def test_a_change_while_it_is_read(monkeypatch):
    """What another thread adds after the tokenizer was written is noticed with the next call."""
    pair = Twins(families()["gpt2"])
    written, late = changes.serialize, iter([True])

    def slow(backend):
        content = written(backend)
        if next(late, False):
            backend.add_tokens(["<new>"])
        return content

    monkeypatch.setattr(changes, "serialize", slow)
    pair.change(lambda t: t.add_tokens(["<other>"]))
    pair.fast(TEXT)
    pair.plain.add_tokens(["<new>"])
    ask(pair)


def test_accelerated_again_it_is_read_again():
    """For the two changes that may pass unnoticed."""
    tokenizer = Twins(families()["gpt2"]).fast
    assert "he" in tokenizer.get_vocab() and "he" not in tokenizer.tokenize(" the")
    tokenizer._tokenizer.add_tokens(["he"])
    assert bpelab.accelerate(tokenizer) is tokenizer
    assert "he" in tokenizer.tokenize(" the")


def test_undone():
    pair = Twins(families()["gpt2"])
    kind = type(pair.plain)
    assert type(pair.fast) is not kind and isinstance(pair.fast, kind)
    assert undo(pair.fast) is pair.fast and type(pair.fast) is kind
    assert vars(pair.fast).keys() == vars(pair.plain).keys()
    assert undo(pair.fast) is pair.fast
    ask(Twins(families()["gpt2"]))


def test_nobody_else_notices():
    """Other tokenizers of the class are as they were, and the accelerated one looks like them."""
    pair = Twins(families()["gpt2"])
    assert not hasattr(pair.plain, "_bpelab_engine")
    assert repr(pair.fast) == repr(pair.plain) and len(pair.fast) == len(pair.plain)
    assert type(pair.fast).__name__ == type(pair.plain).__name__ == transformers.PreTrainedTokenizerFast.__name__
    assert pair.fast.get_vocab() == pair.plain.get_vocab()
