"""Extended and pruned tokenizers in files: the libraries that read these return the same ids."""

import random

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.convert import convert
from bpelab.editing import extend, prune
from bpelab.errors import ConversionError
from bpelab.formats.tiktoken_file import load_ranks, save_ranks

from ..conftest import amount, fuzz_text, shared, shared_text
from ..random_tokenizers import random_corpus, random_text, random_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:training stopped")


def texts_for(rng: random.Random) -> list[str]:
    return [random_text(rng) for _ in range(6)] + [fuzz_text(rng).encode("utf-8", "replace").decode()]


def changed(rng: random.Random, kind: str) -> BPETokenizer:
    """A tokenizer that was extended, and then perhaps pruned."""
    made = extend(random_tokenizer(rng, kind), random_corpus(rng), rng.randint(1, 40))
    if rng.random() < 0.5:
        most = len(prune(made, corpus="low", min_frequency=1 << 60).removed)
        made = prune(made, corpus=random_corpus(rng), keep=len(made) - rng.randint(0, most)).tokenizer
    return made


@pytest.mark.parametrize("kind", ["trained", "own ids", "trained ranks", "superwords", "file of characters", "suffix"])
def test_tokenizers_and_transformers(kind, tmp_path):
    tokenizers, transformers = pytest.importorskip("tokenizers"), pytest.importorskip("transformers")
    for seed in range(amount(5, 60)):
        rng = random.Random(f"{kind} {seed} saved")
        ours = changed(rng, kind)
        ours.save(tmp_path)
        opened = BPETokenizer.from_pretrained(tmp_path)
        theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        fast = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path) if seed % 3 == 0 else None
        for text in texts_for(rng):
            ids = ours.encode(text)
            assert opened.encode(text) == ids
            assert theirs.encode(text, add_special_tokens=False).ids == ids, (seed, text)
            assert fast is None or fast(text, add_special_tokens=False)["input_ids"] == ids
        for name, token_id in ours.special_tokens.items():
            assert theirs.token_to_id(name) == token_id and opened.special_tokens[name] == token_id


def test_tiktoken_and_its_files(tmp_path):
    pytest.importorskip("tiktoken")
    for seed in range(amount(12, 100)):
        rng = random.Random(f"{seed} ranks")
        ours = changed(rng, rng.choice(("trained", "trained ranks")))
        encoding = ours.to_tiktoken()
        save_ranks(ours.spec, tmp_path / "a.tiktoken")
        opened = BPETokenizer.from_spec(load_ranks(tmp_path / "a.tiktoken", ours.pattern or r"(?s:.+)"))
        back = BPETokenizer.from_tiktoken(encoding)
        for text in texts_for(rng):
            ids = ours.encode(text)
            assert encoding.encode_ordinary(text) == ids == opened.encode(text) == back.encode(text), (seed, text)


def test_a_table_of_ranks_would_bring_a_token_to_life():
    """A list of merges leaves `ab` and `c` apart; tiktoken would merge them, since `abc` is there, as a whole piece."""
    pytest.importorskip("tiktoken")
    vocab = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257}
    model = BPEModel.from_vocab(vocab, [(b"a", b"b")])
    ours = BPETokenizer(BPEModel(model.tokens, model.merges, model.alphabet, ignore_merges=True), pattern="gpt2")
    assert ours.encode("abc xabc") == [257, 32, 120, 256, 99]
    with pytest.raises(ConversionError, match=r"b'ab' and b'c' would merge"):
        ours.to_tiktoken()


def test_gguf_and_back(tmp_path):
    for seed in range(amount(8, 60)):
        rng = random.Random(f"{seed} gguf")
        kind = rng.choice(("trained", "scores"))
        ours = changed(rng, kind)
        if kind == "trained":
            ours = ours.with_options(pattern="gpt2")
        elif len(ours.model.initial_symbols.byte_tokens or {}) < 256 or ours.model.initial_symbols.symbols:
            continue
        convert(ours, tmp_path / "a.gguf", "gguf")
        opened = BPETokenizer.from_pretrained(tmp_path / "a.gguf")
        for text in texts_for(rng):
            assert opened.encode(text, add_special_tokens=False) == ours.encode(text), (seed, text)


@pytest.mark.parametrize(
    "name", ["zoo-llama3", "zoo-gpt2", "zoo-spm-prepend", "zoo-metaspace-first", "zoo-added-flags"]
)
def test_files_of_every_kind(name, tmp_path):
    """Real tokenizers: extended, saved, opened by Hugging Face's library, and brought back to what they were."""
    tokenizers = pytest.importorskip("tokenizers")
    old = BPETokenizer.from_pretrained(shared("conformance/tokenizers") / name)
    text = shared_text("languages_12MB.txt.xz", 2_000_000)
    new = extend(old, text[:60_000], 300)
    new.save(tmp_path / "new")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "new" / "tokenizer.json"))
    for line in text[1_000_000:1_060_000].splitlines():
        assert theirs.encode(line, add_special_tokens=False).ids == new.encode(line, add_special_tokens=False)
    back = prune(new, remove=range(old.n_vocab, new.n_vocab)).tokenizer
    assert back == old
    back.save(tmp_path / "back")
    old.save(tmp_path / "old")
    assert (tmp_path / "back/tokenizer.json").read_bytes() == (tmp_path / "old/tokenizer.json").read_bytes()
