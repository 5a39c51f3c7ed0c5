"""What can't be accelerated: an error that names the reason, and a tokenizer that is as it was."""

import os
import subprocess
import sys

import pytest

import bpelab
from bpelab import BackendError, MissingDependencyError, native

from ..conftest import ROOT, needs_extension
from ..formats.families import families
from .twins import Twins, plain, tokenizers, transformers


def fast(model, **parts):
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(model))
    for name, part in parts.items():  # which can't be copied
        setattr(made.backend_tokenizer, name, part)
    return made


class Words:
    """A pre-tokenizer in Python."""

    def pre_tokenize(self, pretok):
        pretok.split(lambda number, text: [text])


VOCAB = {"[UNK]": 0, "a": 1, "b": 2, "ab": 3, "##b": 4, "c": 5}
BPE = lambda **options: tokenizers.models.BPE(VOCAB, [("a", "b")], **options)  # noqa: E731
REFUSED = {
    "only BPE is supported, not 'WordPiece'": lambda: fast(tokenizers.models.WordPiece(VOCAB, unk_token="[UNK]")),
    "only BPE is supported, not 'WordLevel'": lambda: fast(tokenizers.models.WordLevel(VOCAB, unk_token="[UNK]")),
    "only BPE is supported, not 'Unigram'": lambda: fast(tokenizers.models.Unigram([("a", 0.0)], 0)),
    r"leaves out merges \(dropout=1.0\)": lambda: fast(BPE(dropout=1.0)),
    "no file can hold it": lambda: fast(BPE(), pre_tokenizer=tokenizers.pre_tokenizers.PreTokenizer.custom(Words())),
    "only Python serves the step SplitPattern of its pre-tokenizer ": lambda: fast(
        BPE(), pre_tokenizer=tokenizers.pre_tokenizers.Split(tokenizers.Regex("(?<=a)b"), "isolated")
    ),
    "only Python serves the step Digits of its pre-tokenizer, after ByteLevel ": lambda: fast(  # as in Falcon
        BPE(),
        pre_tokenizer=tokenizers.pre_tokenizers.Sequence(
            [
                tokenizers.pre_tokenizers.Punctuation("contiguous"),
                tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
                tokenizers.pre_tokenizers.Digits(),
            ]
        ),
    ),
    "several steps of its post-processor add tokens": lambda: fast(
        BPE(),
        post_processor=tokenizers.processors.Sequence([tokenizers.processors.BertProcessing(("a", 1), ("b", 2))] * 2),
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_tokenizer_that_is_not_served(reason):
    needs_extension()
    tokenizer = REFUSED[reason]()
    before, kept = plain(tokenizer("a b ab")), vars(tokenizer).keys()
    with pytest.raises(BackendError, match="this tokenizer can't be accelerated: .*" + reason):
        bpelab.accelerate(tokenizer)
    assert type(tokenizer) is transformers.PreTrainedTokenizerFast
    assert vars(tokenizer).keys() == kept and plain(tokenizer("a b ab")) == before


def test_a_special_token_that_text_may_come_out_as():
    """Which it never does here; nobody has such a one, but for accidents."""
    needs_extension()
    tokenizer = fast(BPE())
    tokenizer.add_tokens(["c"], special_tokens=True)
    with pytest.raises(BackendError, match="its special token 'c' is a token of the model"):
        bpelab.accelerate(tokenizer)


def test_a_class_that_encodes_by_itself():
    needs_extension()

    class Own(transformers.PreTrainedTokenizerFast):
        def _encode_plus(self, text, **options):
            return super()._encode_plus(text.upper(), **options)

    with pytest.raises(BackendError, match="Own can't be accelerated: it overrides the method _encode_plus"):
        bpelab.accelerate(Own(tokenizer_object=tokenizers.Tokenizer(BPE())))


def test_a_class_that_decodes_by_itself_goes_on_so():
    needs_extension()

    class Loud(transformers.PreTrainedTokenizerFast):
        def _decode(self, token_ids, skip_special_tokens=False, **options):
            return super()._decode(token_ids, skip_special_tokens, **options).upper()

    pair = Twins(families()["gpt2"])
    loud = bpelab.accelerate(Loud(tokenizer_object=pair.plain.backend_tokenizer))
    ids = loud("the harbour sleeps " * 9)["input_ids"]
    assert loud.decode(ids) == "THE HARBOUR SLEEPS " * 9 == pair.fast.decode(ids).upper()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("gpt2", "as AutoTokenizer.from_pretrained returns it, not a str"),
        (None, "not a NoneType"),
        (tokenizers.Tokenizer(BPE()), r"PreTrainedTokenizerFast\(tokenizer_object=...\), made of this Tokenizer"),
        (bpelab.BPETokenizer.train("abab", 257), "not a BPETokenizer"),
    ],
)
def test_what_is_no_tokenizer_of_transformers(given, reason):
    with pytest.raises(TypeError, match=reason):
        bpelab.accelerate(given)


def test_a_slow_tokenizer():
    slow = transformers.PythonBackend
    with pytest.raises(TypeError, match="written in Python"):
        bpelab.accelerate(slow.__new__(slow))


def test_an_old_version(monkeypatch):
    tokenizer = Twins(families()["gpt2"]).plain if native.extension() else fast(BPE())
    monkeypatch.setattr(transformers, "__version__", "4.57.1")
    with pytest.raises(BackendError, match=r"needs transformers 5 or newer; this is 4\.57\.1"):
        bpelab.accelerate(tokenizer)


def test_without_the_extension(monkeypatch):
    monkeypatch.setattr(native, "extension", lambda: None)
    tokenizer = fast(BPE())
    with pytest.raises(MissingDependencyError, match="the extension in C was not built"):
        bpelab.accelerate(tokenizer)
    assert type(tokenizer) is transformers.PreTrainedTokenizerFast


def test_transformers_is_imported_by_nobody_else():
    program = (
        "import sys, bpelab; bpelab.accelerate\n"
        "print('transformers' in sys.modules)\n"
        "sys.modules['transformers'] = None\n"
        "try: bpelab.accelerate('gpt2')\nexcept TypeError as error: print(error)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("False\naccelerate takes a fast tokenizer of transformers")
