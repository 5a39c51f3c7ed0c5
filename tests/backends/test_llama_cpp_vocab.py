"""llama.cpp gives a text bpelab's ids, from GGUF files that hold a vocabulary and no weights: one that the package of
GGUF's makers writes, and those that bpelab writes."""

import json
import random
import unicodedata

import pytest

from bpelab import BPETokenizer, ConversionError, TemplateProcessing
from bpelab.convert import convert, unsupported
from bpelab.editing import extend, prune
from bpelab.formats.gguf_overlaps import find_overlap
from bpelab.formats.sentencepiece_load import build_decoder, build_model, special_tokens
from bpelab.formats.sentencepiece_proto import Piece
from bpelab.normalizers.sentencepiece import SentencePieceNormalizer
from bpelab.notebook import book_text
from bpelab.unicode.tables import category
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, encoding, fuzz_text, shared
from ..random_tokenizers import random_tokenizer
from .conftest import need

llama_cpp, gguf = need("llama_cpp"), need("gguf")
OLDER = unicodedata if unicodedata.unidata_version < "16" else unicodedata.ucd_3_2_0


def write_vocabulary(folder, path):
    """The least that llama.cpp takes for a tokenizer, out of tokenizer.json, by the package of GGUF's makers."""
    data = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    kinds = dict.fromkeys(data["model"]["vocab"], gguf.TokenType.NORMAL)
    kinds |= {token["content"]: gguf.TokenType.CONTROL for token in data["added_tokens"]}  # their ids follow
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(list(kinds))
    writer.add_token_types(list(kinds.values()))
    writer.add_token_merges([" ".join(merge) for merge in data["model"]["merges"]])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    ours = BPETokenizer.train(book_text()[:60_000], 800, pattern="gpt2", special_tokens=["<|end|>", "<|user|>"])
    folder = tmp_path_factory.mktemp("gguf")
    ours.save(folder)
    write_vocabulary(folder, folder / "vocabulary.gguf")
    theirs = llama_cpp.Llama(str(folder / "vocabulary.gguf"), vocab_only=True, verbose=False)
    yield ours, theirs
    theirs.close()


def both_know(char):
    """Whether both see a letter, a number, or neither: llama.cpp's table lacks those that Unicode 16 added."""
    classes = {"L": "letter", "N": "number"}
    return classes.get(OLDER.category(char)[0]) == classes.get(category(char)[0])


def fuzz(number, seed):
    """Texts of characters that both know. "'ſ" is left out: llama.cpp doesn't fold it to "'s", as (?i:'s) does."""
    rng = random.Random(seed)
    for _ in range(number):
        text = "".join(filter(both_know, fuzz_text(rng))).encode("utf-8", "replace").decode()
        yield text.replace("'ſ", "s").replace("'K", "k")


def ids(theirs, text, special=False):
    return theirs.tokenize(text.encode(), add_bos=False, special=special)


def test_the_size(both):
    ours, theirs = both
    assert theirs.n_vocab() == ours.n_vocab == 800


def test_the_book(both):
    ours, theirs = both
    assert ids(theirs, book_text()) == ours.encode(book_text())


def test_fuzz(both):
    ours, theirs = both
    for text in fuzz(amount(3_000, 100_000), 11):
        assert ids(theirs, text) == ours.encode(text), repr(text)


def test_special_tokens(both):
    ours, theirs = both
    text = "<|user|>low <|end|><|end|> lower<|end"
    assert ids(theirs, text, special=True) == ours.encode(text, allowed_special="all")
    assert ids(theirs, text) == ours.encode(text)


def test_and_back(both):
    ours, theirs = both
    text = "naïve 日本 😀 <low>"
    assert theirs.detokenize(ours.encode(text)).decode() == text


@pytest.fixture
def opened(tmp_path):
    """`opened(tokenizer)` is llama.cpp with the file that bpelab writes of a tokenizer."""
    models = []

    def load(tokenizer, lossy=False):
        path = tmp_path / f"{len(models)}.gguf"
        convert(tokenizer, path, "gguf", lossy=lossy)
        models.append(llama_cpp.Llama(str(path), vocab_only=True, verbose=False))
        return models[-1]

    yield load
    for model in models:
        model.close()


def kit(name):
    return BPETokenizer.from_pretrained(shared(f"conformance/tokenizers/{name}"))


def r50k():
    encoding("r50k_base")
    return BPETokenizer.from_tiktoken("r50k_base")


def agree(ours, theirs, number):
    assert theirs.n_vocab() == ours.n_vocab
    start = book_text()[:20_000]
    assert ids(theirs, start) == ours.encode(start, add_special_tokens=False)
    for text in fuzz(number, 12):
        assert ids(theirs, text) == ours.encode(text, add_special_tokens=False), repr(text)


@pytest.mark.parametrize("pattern", ["gpt2", "llama3", "qwen2"])
def test_what_bpelab_trains_and_writes(pattern, opened):
    special = ["<|end|>", "<|user|>"]
    ours = BPETokenizer.train(book_text()[:60_000], 800, pattern=pattern, special_tokens=special, eos_token="<|end|>")
    theirs = opened(ours)
    agree(ours, theirs, amount(800, 30_000))
    text = "<|user|>low <|end|><|end|> lower<|end"
    assert ids(theirs, text, special=True) == ours.encode(text, allowed_special="all")
    assert theirs.token_eos() == ours.eos_token_id


@pytest.mark.parametrize("name", ["gpt2", "zoo-gpt2", "zoo-llama3"])
def test_tokenizers_of_the_kit(name, opened):
    ours = kit(name)
    agree(ours, opened(ours), amount(800, 30_000))


def test_r50k_base(opened):
    ours = r50k()
    agree(ours, opened(ours), amount(800, 30_000))


def test_qwen2_without_its_normalizer(opened):
    ours = kit("qwen2.5").with_options(normalizer=None)
    agree(ours, opened(ours), amount(800, 30_000))


def test_bos_and_eos(opened):
    post = TemplateProcessing(("<|a|>", "$A", "<|b|>"))
    options = {"special_tokens": ["<|a|>", "<|b|>"], "bos_token": "<|a|>", "eos_token": "<|b|>", "post_processor": post}
    ours = BPETokenizer.train(book_text()[:30_000], 400, pattern="gpt2", **options)
    assert opened(ours).tokenize(b"low", add_bos=True) == ours.encode("low")


def scored_pieces():
    """Pieces as a model of SentencePiece's has them: kinds, bytes, tokens in the order of merging, characters."""
    tokenizers = need("tokenizers")
    learner = tokenizers.Tokenizer(tokenizers.models.BPE())
    learner.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=1_200, show_progress=False, limit_alphabet=200)
    learner.train_from_iterator(book_text()[:90_000].split("\n"), trainer)
    words = sorted(learner.get_vocab(), key=learner.token_to_id)
    tokens = [word for word in words if len(word) > 1] + [word for word in words if len(word) == 1]
    first = [Piece("<unk>", 0.0, "UNKNOWN"), Piece("<s>", 0.0, "CONTROL"), Piece("</s>", 0.0, "CONTROL")]
    spelled = [Piece(f"<0x{byte:02X}>", 0.0, "BYTE") for byte in range(256)]
    return (*first, *spelled, *(Piece(token, -float(place)) for place, token in enumerate(tokens)))


@pytest.mark.parametrize("prefix", [True, False])
def test_scored_tokens(prefix, opened):
    pieces = scored_pieces()
    ours = BPETokenizer(
        build_model(pieces, byte_fallback=True),
        pattern=None,
        special_tokens=special_tokens(pieces),
        normalizer=SentencePieceNormalizer("", (), prefix, remove_extra_whitespaces=False).in_parts(),
        decoder=build_decoder(int(prefix)),
        bos_token="<s>",
        unk_token="<unk>",
    )
    agree(ours, opened(ours), amount(800, 30_000))


def test_phi_3(opened):
    """Its special tokens take the white space behind them, which GGUF can't say: the ids of other texts are equal."""
    ours = kit("phi-3-mini")
    assert [loss.feature for loss in unsupported(ours, "gguf") if loss.changes_ids] == ["flags"]
    agree(ours, opened(ours, lossy=True), amount(800, 30_000))


def test_where_llama_cpp_cuts_otherwise(opened):
    """Of patterns that tell cases apart it has approximations: "E" with an accent is neither upper nor lower case."""
    ours = BPETokenizer.train(book_text()[:60_000], 800, pattern="o200k")
    assert "llama.cpp's splitter" in [loss.feature for loss in unsupported(ours, "gguf")]
    theirs = opened(ours)
    text = "HelloWorld it's 1234567 low/\n\n  lower THE End\n"
    assert ids(theirs, text) == ours.encode(text)
    cased = BPETokenizer.train("\u00e9\u00c9 " * 50, 258 + 1, pattern=r"\S+").model
    ours = BPETokenizer(cased, pattern="o200k")
    assert ours.pieces("\u00e9\u00c9") == ["\u00e9", "\u00c9"]
    assert ids(opened(ours), "\u00e9\u00c9") != ours.encode("\u00e9\u00c9")


@pytest.mark.parametrize("kind", ["bytes", "scores"])
def test_extended_and_pruned(kind, tmp_path):
    """New tokens, and those that are left, have the same ids in llama.cpp."""
    rng = random.Random(kind)
    if kind == "bytes":
        old = BPETokenizer.train(book_text()[:40_000], 600, pattern="gpt2", special_tokens=["<|end|>"])
    else:
        old = next(it for it in iter(lambda: random_tokenizer(rng, "scores"), None) if fits_gguf(it))
    extended = extend(old, book_text()[40_000:80_000], 200)
    pruned = prune(extended, corpus=book_text()[:20_000], keep=len(extended) - 150).tokenizer
    for number, ours in enumerate((extended, pruned)):
        convert(ours, tmp_path / f"{number}.gguf", "gguf")
        theirs = llama_cpp.Llama(str(tmp_path / f"{number}.gguf"), vocab_only=True, verbose=False)
        for text in [book_text()[60_000:90_000], *fuzz(amount(50, 1_000), 3)]:
            assert ids(theirs, text) == ours.encode(text, add_special_tokens=False)
        theirs.close()


def fits_gguf(tokenizer):
    """Whether it spells all bytes, and has no symbols."""
    return len(tokenizer.model.initial_symbols.byte_tokens or {}) == 256 and not tokenizer.model.initial_symbols.symbols


def test_added_tokens_inside_each_other_and_side_by_side(tmp_path):
    """Any that don't overlap so that it would matter; those that do are refused."""
    rng, tried = random.Random(12), 0
    base = BPETokenizer.train(book_text()[:60_000], 800, pattern="gpt2", special_tokens=["<|end|>"])
    for number in range(amount(30, 300)):
        names = list({"".join(rng.choices("ab é", k=rng.randint(2, 5))) for _ in range(rng.randint(1, 6))})
        added = [AddedToken(name, 800 + at, special=False) for at, name in enumerate(names)]
        ours = base.with_options(special_tokens=SpecialTokens([*base.added_tokens, *added]))
        if find_overlap(names) is not None:
            with pytest.raises(ConversionError, match="overlap"):
                convert(ours, tmp_path / "refused.gguf", "gguf")
            continue
        try:
            convert(ours, tmp_path / f"{number}.gguf", "gguf")
        except ConversionError as error:
            assert "mix up the tokens" in str(error)  # an added token that is written like one of the model's
            continue
        theirs = llama_cpp.Llama(str(tmp_path / f"{number}.gguf"), vocab_only=True, verbose=False)
        tried += 1
        for _ in range(60):
            text = "".join(rng.choices("ab é.", k=rng.randint(0, 14)))
            ids = ours.encode(text, allowed_special="all")
            assert theirs.tokenize(text.encode(), add_bos=False, special=True) == ids, (names, text)
        theirs.close()
    assert tried > 5
