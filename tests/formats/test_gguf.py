"""Tokenizers in GGUF files: written here and read back, exchanged with the gguf package, every name of a pattern,
refusals. llama.cpp itself reads them in tests/backends."""

import ast
import io
import json
import random
import re
from itertools import product

import pytest

from bpelab import BPEModel, BPETokenizer, ConversionError, TemplateProcessing, TokenizerFileError
from bpelab._support.textio import valid_text
from bpelab.convert import convert
from bpelab.formats import gguf_load
from bpelab.formats.gguf_container import read_metadata, write_metadata
from bpelab.formats.gguf_overlaps import explain_overlap, find_overlap
from bpelab.formats.gguf_pre_tokenizers import GGUF_PRE
from bpelab.formats.gguf_save import gguf_metadata, save
from bpelab.formats.tokenizer_json_save import tokenizer_json
from bpelab.notebook import book_text
from bpelab.vocab.added_token_matcher import AddedTokenMatcher
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import SOAK, amount, fuzz_text, random_ranks, shared

KEY = "tokenizer.ggml."


def trained(**options):
    chosen = {"pattern": "gpt2", "special_tokens": ["<|end|>", "<|user|>"], **options}
    return BPETokenizer.train(book_text()[:50_000], 700, **chosen)


def scored(**options):
    """A model of SentencePiece's that llama.cpp's one way of preparing text fits."""
    spm = pytest.importorskip("sentencepiece")
    out = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(book_text()[:60_000].split("\n")), model_writer=out, minloglevel=2, num_threads=1,
        **{"model_type": "bpe", "vocab_size": 900, "byte_fallback": True, "normalization_rule_name": "identity",
           "remove_extra_whitespaces": False, **options},
    )  # fmt: skip
    return out.getvalue()


def texts(number, seed=60):
    rng = random.Random(seed)
    for _ in range(number):
        yield valid_text(fuzz_text(rng)) + rng.choice(("", "<|end|>", " <|user|>x", "<s>", "<unk>"))


def again(tokenizer, tmp_path):
    save(tokenizer.spec, tmp_path / "t.gguf")
    return BPETokenizer.from_pretrained(tmp_path / "t.gguf")


def same(ours, theirs, number):
    for text in texts(number):
        for allowed in ((), "all"):
            assert theirs.encode(text, allowed_special=allowed) == ours.encode(text, allowed_special=allowed), text
        assert theirs.decode(ours.encode(text)) == ours.decode(ours.encode(text))


@pytest.mark.parametrize("pattern", ["gpt2", "llama3", "qwen2", "o200k"])
def test_byte_level_and_back(pattern, tmp_path):
    ours = trained(pattern=pattern, eos_token="<|end|>")
    theirs = again(ours, tmp_path)
    assert (theirs.special_tokens, theirs.eos_token, theirs.n_vocab) == (ours.special_tokens, "<|end|>", 700)
    assert theirs.get_vocab() == ours.get_vocab()
    assert dict(theirs.model.merges) == dict(ours.model.merges)
    assert theirs.spec.post_processor is None
    same(ours, theirs, amount(120, 5_000))


@pytest.mark.parametrize("add_dummy_prefix", [True, False])
def test_scored_and_back(add_dummy_prefix, tmp_path):
    (tmp_path / "m.model").write_bytes(scored(add_dummy_prefix=add_dummy_prefix))
    ours = BPETokenizer.from_pretrained(tmp_path / "m.model")
    theirs = again(ours, tmp_path)
    assert (theirs.special_tokens, theirs.n_vocab) == (ours.special_tokens, ours.n_vocab)
    assert (theirs.bos_token, theirs.eos_token, theirs.unk_token) == ("<s>", "</s>", "<unk>")
    same(ours, theirs, amount(120, 5_000))


def test_scores_of_a_merge_list(tmp_path):
    """Merges in Hugging Face's form are scores too, if any two neighbours whose text is a token are among them."""
    (tmp_path / "m.model").write_bytes(scored())
    original = BPETokenizer.from_pretrained(tmp_path / "m.model")
    original.save(tmp_path / "folder")
    ours = BPETokenizer.from_pretrained(tmp_path / "folder")
    same(ours, again(ours, tmp_path), amount(60, 2_000))
    data = json.loads((tmp_path / "folder" / "tokenizer.json").read_text())
    lost = data["model"]["merges"].pop()
    (tmp_path / "folder" / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(ConversionError, match=r"by scores .* would merge"):
        again(BPETokenizer.from_pretrained(tmp_path / "folder"), tmp_path)
    assert len(lost) == 2


def test_ids_with_holes_are_filled(tmp_path):
    ours = trained(special_tokens={"<|end|>": 3, "<|pad|>": 900})
    theirs = again(ours, tmp_path)
    assert (theirs.n_vocab, len(theirs)) == (901, 901)
    assert theirs.special_tokens == ours.special_tokens
    assert theirs.id_to_token(800) == b"[PAD800]"
    same(ours, theirs, amount(40, 1_000))
    assert read_metadata(tmp_path / "t.gguf").metadata[f"{KEY}token_type"][699:] == [5] * 201 + [3]
    with pytest.raises(ConversionError, match="lists every id"):
        again(trained(special_tokens={"<|end|>": 4_000_000_000}), tmp_path)


@pytest.mark.parametrize(("starts", "ends"), [(True, False), (False, True), (True, True), (False, False)])
def test_what_stands_around_a_text(starts, ends, tmp_path):
    template = ["<|user|>"] * starts + ["$A"] + ["<|end|>"] * ends
    post = TemplateProcessing(tuple(template)) if starts or ends else None
    ours = trained(bos_token="<|user|>", eos_token="<|end|>", post_processor=post)
    theirs = again(ours, tmp_path)
    metadata = read_metadata(tmp_path / "t.gguf").metadata
    assert (metadata[f"{KEY}add_bos_token"], metadata[f"{KEY}add_eos_token"]) == (starts, ends)
    assert theirs.encode("low") == ours.encode("low")
    assert len(ours.encode("low")) == len(ours.encode_ordinary("low")) + starts + ends


def test_what_cannot_stand_around_a_text(tmp_path):
    twice = TemplateProcessing(("<|end|>", "$A", "<|end|>"))
    with pytest.raises(ConversionError, match="bos before a text and eos after it"):
        again(trained(eos_token="<|end|>", post_processor=twice), tmp_path)


def test_roles_that_a_tokenizer_json_does_not_name(tmp_path):
    """Llama 3.1's file alone: a token is put before a text, and which one is bos stands in a second file."""
    starts = trained(post_processor=TemplateProcessing(("<|user|>", "$A")))
    with pytest.raises(ConversionError) as refused:
        again(starts, tmp_path)
    said = str(refused.value)
    assert "puts ['<|user|>'] before a text and nothing after it, and its bos is None, its eos None" in said
    assert said.endswith("use tokenizer.with_options(bos_token='<|user|>')")
    assert again(starts.with_options(bos_token="<|user|>"), tmp_path).encode("low") == starts.encode("low")


def test_a_chat_template_is_kept(tmp_path):
    ours = trained(metadata={"chat_template": "{{ 'é' }}", "model_max_length": 5})
    assert again(ours, tmp_path).spec.metadata == {"chat_template": "{{ 'é' }}"}


def test_named_chat_templates(tmp_path):
    package = pytest.importorskip("gguf")
    named = [{"name": "default", "template": "{{ 1 }}"}, {"name": "tool_use", "template": "{{ 2 }}"}]
    ours = trained(metadata={"chat_template": named})
    assert again(ours, tmp_path).spec.metadata == {"chat_template": named}
    values, types = gguf_metadata(trained().spec)
    writer = package.GGUFWriter(tmp_path / "g.gguf", "llama")
    writer.add_chat_template([named[1]])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    theirs = read_metadata(tmp_path / "g.gguf")
    write_metadata(tmp_path / "t.gguf", values | theirs.metadata, types | theirs.types)
    assert BPETokenizer.from_pretrained(tmp_path / "t.gguf").spec.metadata == {"chat_template": [named[1]]}


def test_added_tokens_and_kinds(tmp_path):
    ours = trained(special_tokens=["<|end|>"])
    added = [*ours.added_tokens, AddedToken("  x ", 700, special=False), AddedToken("日", 701, special=False)]
    ours = ours.with_options(special_tokens=SpecialTokens(added))
    theirs = again(ours, tmp_path)
    assert theirs.added_tokens == ours.added_tokens
    assert read_metadata(tmp_path / "t.gguf").metadata[f"{KEY}token_type"][-3:] == [3, 4, 4]
    assert theirs.encode("a  x 日") == ours.encode("a  x 日") == [*ours.encode("a"), 700, 701]
    added[-1] = AddedToken("é", 701, special=False)  # which is how the byte E9 is written
    with pytest.raises(ConversionError, match="mix up the tokens 233 and 701"):
        again(ours.with_options(special_tokens=SpecialTokens(added)), tmp_path)


def llama_cpp_parts(text, names):
    """The parts that llama.cpp cuts a text into, by `tokenizer_st_partition`: the longest name first, everywhere."""
    parts = [(text, False)]
    for name in sorted(names, key=lambda name: -len(name.encode())):
        cut = []
        for part, is_name in parts:
            pieces = [part] if is_name else [piece for rest in part.split(name) for piece in (name, rest)][1:]
            cut += [(piece, is_name or at % 2 == 1) for at, piece in enumerate(pieces) if piece]
        parts = cut
    return [part for part, _ in parts]


def test_added_tokens_that_overlap():
    """Where none is reported, every short text has the same tokens as in llama.cpp; where one is, its text hasn't."""
    rng, reported = random.Random(9), 0
    for _ in range(amount(150, 5_000)):
        letters = rng.choice(("a", "ab", "abé"))
        names = sorted({"".join(rng.choices(letters, k=rng.randint(1, 4))) for _ in range(rng.randint(1, 4))})
        rng.shuffle(names)
        matcher = AddedTokenMatcher((name, AddedToken(name, token_id)) for token_id, name in enumerate(names))

        def parts(text, matcher=matcher):
            return [part for part, _ in matcher.split(text, lambda token: True) if part]

        if (overlap := find_overlap(names)) is None:
            every = ("".join(text) for size in range(1, 8) for text in product(letters, repeat=size))
            assert all(parts(text) == llama_cpp_parts(text, names) for text in every), names
        else:
            first, second = overlap
            text = ast.literal_eval(re.search("a text such as (.*?), where", explain_overlap(first, second))[1])
            reported += 1
            alone = AddedTokenMatcher((name, AddedToken(name, 0)) for name in overlap)
            assert next(part for part, _ in alone.split(text, lambda token: True)) == first
            if len(first.encode()) < len(second.encode()):
                assert llama_cpp_parts(text, overlap)[-1] == second
    assert reported > 20
    assert find_overlap(["aba", "abab"]) is None


def test_files_whose_added_tokens_overlap(tmp_path):
    ours = trained(special_tokens=["<|end|>"])
    added = [*ours.added_tokens, AddedToken("ab", 700, special=False), AddedToken("bcd", 701, special=False)]
    ours = ours.with_options(special_tokens=SpecialTokens(added))
    with pytest.raises(
        ConversionError, match=r"'ab' and 'bcd' overlap in a text such as 'abcd', where .* 'bcd', which is"
    ):
        again(ours, tmp_path)
    added[-1] = AddedToken("bc", 701, special=False)
    with pytest.raises(ConversionError, match=r"llama.cpp either, since both are equally long"):
        again(ours.with_options(special_tokens=SpecialTokens(added)), tmp_path)
    added[-2:] = [AddedToken("abc", 700, special=False), AddedToken("cd", 701, special=False)]
    theirs = again(ours.with_options(special_tokens=SpecialTokens(added)), tmp_path)
    assert theirs.encode("abcd") == [700, *ours.encode("d")]
    gemma_like(tmp_path / "g.gguf")
    keys = read_metadata(tmp_path / "g.gguf")
    keys.metadata[f"{KEY}tokens"][-1] = "b日x"
    write_metadata(tmp_path / "g.gguf", keys.metadata, keys.types)
    with pytest.warns(UserWarning, match=r"g\.gguf: the .* 'a b' and 'b日x' overlap in a text such as 'a b日x'"):
        BPETokenizer.from_pretrained(tmp_path / "g.gguf")


def gemma_like(path):
    """A file as Gemma's: scores, no space before the text, and user-defined tokens that hold plain spaces."""
    letters = ["▁", "a", "b", "▁a", "▁▁", "▁▁a"]
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters]
    tokens += ["  ", "   ", "a b", "日x"]
    types = [3, 3, 3, 2, *[6] * 256, *[1] * len(letters), *[4] * 4]
    keys = {
        "general.architecture": "llama", f"{KEY}model": "llama", f"{KEY}tokens": tokens, f"{KEY}token_type": types,
        f"{KEY}scores": [*[-1000.0] * 260, -9.0, -8.0, -7.0, -1.0, -2.0, -3.0, *[-1000.0] * 4], f"{KEY}bos_token_id": 2,
        f"{KEY}eos_token_id": 1, f"{KEY}unknown_token_id": 3, f"{KEY}add_space_prefix": False,
    }  # fmt: skip
    types = {f"{KEY}token_type": "[int32]", f"{KEY}scores": "[float32]", f"{KEY}tokens": "[string]"}
    types |= {key: "uint32" for key in keys if key.endswith("_id")}
    write_metadata(path, keys, types)
    return BPETokenizer.from_pretrained(path)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a  b", ["a", "  ", "b"]),
        ("a   b", ["a", "   ", "b"]),
        ("     a", ["   ", "  ", "a"]),  # the longest first, and never part of a merge
        (" a", ["▁a"]),
        ("▁▁a", ["▁▁a"]),  # these spaces were never plain ones
        ("a ba b", ["a b", "a b"]),
        ("日x", ["日x"]),  # found, though no token is its first character
        ("日a", ["<0xE6>", "<0x97>", "<0xA5>", "a"]),
    ],
)
def test_user_defined_tokens_with_plain_spaces_as_in_gemmas_file(text, tokens, tmp_path):
    ours = gemma_like(tmp_path / "g.gguf")
    listed = read_metadata(tmp_path / "g.gguf").metadata[f"{KEY}tokens"]
    ids = [listed.index(token) for token in tokens]
    assert ours.encode(text, add_special_tokens=False) == ids
    assert ours.decode(ids) == text.replace("▁", " ")
    theirs = again(ours, tmp_path)
    assert theirs.spec == ours.spec
    assert theirs.encode(text, add_special_tokens=False) == ids


def test_letters_that_a_user_defined_as_in_deepseeks_files(tmp_path):
    """Rebuilt with the structure of DeepSeek-Coder's: letters that GPT-2's alphabet has for bytes UTF-8 never has."""
    tokenizers = pytest.importorskip("tokenizers")
    data = tokenizer_json(trained(pattern="gpt2", special_tokens=["<|end|>"]).spec)
    letters = [chr(byte) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))]
    kept = [text for text in data["model"]["vocab"] if text not in [*letters, "<|end|>"]] + ["<|end|>"]
    data["model"]["vocab"] = {text: number for number, text in enumerate(kept)}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    listed = [{"id": len(kept) + number, "content": letter, **flags} for number, letter in enumerate(letters)]
    data["added_tokens"] = [{**flags, "id": kept.index("<|end|>"), "content": "<|end|>", "special": True}, *listed]
    theirs = tokenizers.Tokenizer.from_str(json.dumps(data))
    merges = [" ".join(pair) for pair in data["model"]["merges"]]
    kinds = [3 if text == "<|end|>" else 1 for text in kept] + [4] * len(letters)
    path = write(tmp_path / "d.gguf", pre="gpt-2", tokens=kept + letters, token_type=kinds, merges=merges)
    ours = BPETokenizer.from_pretrained(path)
    for text in [*texts(amount(50, 2_000)), "schön, À la carte", "".join(letters), "\xf5\U0010ffff"]:
        assert ours.encode(text, allowed_special="all") == theirs.encode(text).ids, text
        assert ours.decode(ours.encode(text)) == text


def write_with_gguf(path, tokenizer):
    """A file by the package of GGUF's makers, from bpelab's own values."""
    package = pytest.importorskip("gguf")
    values, _ = gguf_metadata(tokenizer.spec)
    writer = package.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(values[f"{KEY}model"])
    writer.add_tokenizer_pre(values[f"{KEY}pre"])
    writer.add_token_list(values[f"{KEY}tokens"])
    writer.add_token_types(values[f"{KEY}token_type"])
    if f"{KEY}merges" in values:
        writer.add_token_merges(values[f"{KEY}merges"])
    else:
        writer.add_token_scores(values[f"{KEY}scores"])
        writer.add_add_space_prefix(values[f"{KEY}add_space_prefix"])
    if tokenizer.eos_token_id is not None:
        writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_add_bos_token(False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def test_files_of_the_gguf_package(tmp_path):
    (tmp_path / "m.model").write_bytes(scored())
    for ours in (trained(eos_token="<|end|>"), BPETokenizer.from_pretrained(tmp_path / "m.model")):
        write_with_gguf(tmp_path / "g.gguf", ours)
        theirs = BPETokenizer.from_pretrained(tmp_path / "g.gguf")
        assert theirs.eos_token == ours.eos_token
        same(ours, theirs, amount(60, 2_000))


def test_the_gguf_package_reads_what_we_write(tmp_path):
    package = pytest.importorskip("gguf")
    ours = trained(eos_token="<|end|>", metadata={"chat_template": "{{ x }}"})
    save(ours.spec, tmp_path / "t.gguf")
    fields = package.GGUFReader(tmp_path / "t.gguf").fields
    values, _ = gguf_metadata(ours.spec)
    for key, value in values.items():
        assert fields[key].contents() == (pytest.approx(value) if type(value) is float else value), key


def test_a_folder_with_one_file(tmp_path):
    save(trained().spec, tmp_path / "model.gguf")
    assert BPETokenizer.from_pretrained(tmp_path).n_vocab == 700
    save(trained().spec, tmp_path / "other.gguf")
    with pytest.raises(TokenizerFileError, match="2 files that could be meant"):
        BPETokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("model", "pre", "starts"),
    [("gemma4", None, True), ("gpt2", "granite-embed-multi-311m", True), ("gpt2", "sarvam-moe", False)],
)
def test_characters_with_byte_fallback(model, pre, starts, tmp_path):
    """Built as Gemma 4's file is: merges of characters, lines merged whole, a byte where a character is missing."""
    theirs, values, types = characters()
    values |= {KEY + "model": model} | ({KEY + "pre": pre} if pre else {})
    write_metadata(tmp_path / "c.gguf", values, types)
    ours = BPETokenizer.from_spec(gguf_load.load(tmp_path / "c.gguf"))
    assert (ours.bos_token, ours.special_tokens["<eos>"]) == ("<bos>", 1)
    assert (ours.encode("low")[0] == 2) == starts  # which llama.cpp overrules for the first two
    tried = (text.replace("<unk>", "") for text in texts(amount(200, 5_000)))
    for text in [*tried, book_text()[:9_000], "\n" * 9 + "low\n\n \U0001f98a"]:
        got = ours.encode(text, add_special_tokens=False)
        assert got == theirs.encode(text, add_special_tokens=False).ids, text
        assert ours.decode(got) == text
    values[KEY + "merges"] = [merge for merge in values[KEY + "merges"] if merge != "\n \n"]
    write_metadata(tmp_path / "c.gguf", values, types)
    with pytest.raises(TokenizerFileError, match="no merges make"):
        gguf_load.load(tmp_path / "c.gguf")


def characters():
    """Such a tokenizer, by Hugging Face's library, and the keys of its file."""
    tokenizers = pytest.importorskip("tokenizers")
    first = ["<pad>", "<eos>", "<bos>", "<unk>", *map("<0x{:02X}>".format, range(256))]
    built = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", byte_fallback=True))
    built.normalizer = tokenizers.normalizers.Replace(" ", "\u2581")
    built.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"[^\n]+|[\n]+"), "isolated")
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=900, special_tokens=first, limit_alphabet=150, show_progress=False
    )
    built.train_from_iterator([book_text()[:60_000] + "\n\n"], trainer)
    data = json.loads(built.to_str())
    # bytes are tokens of the model and not of the text, as in Gemma's file
    data["added_tokens"] = [token for token in data["added_tokens"] if token["id"] < 4]
    built = tokenizers.Tokenizer.from_str(json.dumps(data))
    vocab = sorted(data["model"]["vocab"], key=data["model"]["vocab"].get)
    values = {
        KEY + "tokens": vocab,
        KEY + "token_type": [3] * 4 + [6] * 256 + [1] * (len(vocab) - 260),
        KEY + "merges": [" ".join(merge) for merge in data["model"]["merges"]],
        KEY + "bos_token_id": 2,
        KEY + "eos_token_id": 1,
        KEY + "add_bos_token": False,
    }
    types = {key: "uint32" for key, value in values.items() if type(value) is int}
    types |= {KEY + "tokens": "[string]", KEY + "merges": "[string]", KEY + "token_type": "[int32]"}
    return built, values, types


SMALL = BPETokenizer.train(book_text()[:9_000], 270, pattern="gpt2", special_tokens=["<|end|>"])


def write(path, **changes):
    """A small file with some keys changed; None takes one out."""
    values, types = gguf_metadata(SMALL.spec)
    for key, value in changes.items():
        name = {"chat_template": "tokenizer.chat_template"}.get(key, KEY + key)
        values[name] = value
        if value is None:
            del values[name]
        if type(value) is int:
            types[name] = "uint32"
        if isinstance(value, list) and value and type(value[0]) in (int, float):
            types[name] = "[int32]" if type(value[0]) is int else "[float32]"
    write_metadata(path, values, {key: kind for key, kind in types.items() if key in values})
    return path


@pytest.mark.parametrize("name", GGUF_PRE)
def test_every_name_of_a_pattern(name, tmp_path):
    path = write(tmp_path / "s.gguf", pre=name)
    pre = GGUF_PRE[name]
    if not pre.byte_level:
        refused = "tokens are not bytes, which is not supported" if name == "whitespace" else "<0x00> is missing"
        with pytest.raises(TokenizerFileError, match=refused):
            gguf_load.load(path)
        return
    ours = BPETokenizer.from_spec(gguf_load.load(path))
    assert ours.model.ignore_merges == pre.ignore_merges
    text = "HelloWorld it's  1234567 नमस्ते 漢字〇 low\n\n lower."
    assert ours.decode(ours.encode(text)) == text
    assert "".join(ours.pieces(text)).encode("latin-1", "replace")
    tokenizers = pytest.importorskip("tokenizers")
    splits = [
        tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated") for pattern in pre.original or pre.regex
    ]
    expected = [piece for piece, _ in tokenizers.pre_tokenizers.Sequence(splits).pre_tokenize_str(text)]
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    assert ours.pieces(text) in (expected, [byte_level.pre_tokenize_str(piece)[0][0] for piece in expected])


def test_names_survive_a_round_trip(tmp_path):
    """What a file's name says is written again under a name with the same patterns."""
    for name in sorted(name for name, pre in GGUF_PRE.items() if pre.byte_level):
        ours = BPETokenizer.from_spec(gguf_load.load(write(tmp_path / "s.gguf", pre=name)))
        values, _ = gguf_metadata(ours.spec)
        found = GGUF_PRE[values[f"{KEY}pre"]]
        assert found.regex == GGUF_PRE[name].regex
        assert found.ignore_merges == ours.model.ignore_merges or not ours.model.recovered_merges.unreachable


TOKENS, MERGES = (gguf_metadata(SMALL.spec)[0][f"{KEY}{key}"] for key in ("tokens", "merges"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": None}, "ggml.model: is missing"),
        ({"model": "t5"}, "ggml.model: 't5' is Unigram, not byte-pair encoding; gpt2, llama and gemma4 are supported"),
        ({"model": "gpt3"}, "ggml.model: 'gpt3' is unknown"),
        ({"model": 5}, "ggml.model: expected a string"),
        ({"pre": None}, "ggml.pre: is missing, so it's unclear how text is split"),
        ({"pre": "gpt-9"}, "ggml.pre: 'gpt-9' is unknown"),
        ({"pre": 3}, "ggml.pre: expected a string"),
        ({"tokens": None}, "ggml.tokens: is missing"),
        ({"tokens": [*TOKENS[:-1], ""]}, r"ggml.tokens\[269\]: is empty"),
        ({"tokens": [*TOKENS[:-1], "a"]}, r"ggml.tokens\[269\]: 'a' is already token 97|already"),
        ({"tokens": [*TOKENS[:-1], "a b"]}, None),
        ({"tokens": ["é"] * 3}, "already"),
        ({"token_type": [1] * 269}, "ggml.token_type: has 269 entries for 270 tokens"),
        ({"token_type": [1] * 271}, "ggml.token_type: has 271 entries for 270 tokens"),
        ({"token_type": [0] + [1] * 269}, r"ggml.token_type\[0\]: 0 is not a token type"),
        ({"token_type": [1] * 269 + [7]}, r"ggml.token_type\[269\]: 7 is not a token type"),
        ({"token_type": None}, None),
        ({"merges": None}, "ggml.merges: is missing"),
        ({"merges": ["l"]}, r"ggml.merges\[0\]"),
        ({"merges": [MERGES[0], "q zz"]}, r"ggml.merges\[1\].*not in model.vocab"),
        ({"merges": ["l o w"]}, r"ggml.merges\[0\]"),
        ({"bos_token_id": 270}, "ggml.bos_token_id: is 270, but the tokens are numbered from 0 to 269"),
        ({"eos_token_id": 4_294_967_295}, "ggml.eos_token_id: is 4294967295"),
        ({"unknown_token_id": "x"}, "ggml.unknown_token_id: expected an integer"),
        ({"padding_token_id": True}, "ggml.padding_token_id: expected an integer"),
        ({"add_bos_token": "yes"}, "ggml.add_bos_token: expected true or false"),
        ({"model": "llama"}, "ggml.scores: is missing"),
        ({"model": "llama", "scores": [0.5] * 3}, "ggml.scores: has 3 entries for 270 tokens"),
        ({"model": "llama", "scores": [float("nan")] * 270}, "not a number"),
        ({"model": "llama", "scores": [0.0] * 270, "token_type": [6] * 270}, "is marked as a byte"),
    ],
)
def test_files_that_are_wrong(changes, message, tmp_path):
    path = write(tmp_path / "s.gguf", **changes)
    if message is None:
        gguf_load.load(path)
        return
    with pytest.raises(TokenizerFileError, match=message) as caught:
        gguf_load.load(path)
    assert "s.gguf" in str(caught.value)


def test_what_llama_cpp_would_encode_otherwise(tmp_path):
    rng = random.Random(61)
    for tokenizer, why in [
        (trained(normalizer="NFC"), "applies no normalizer"),
        (trained(pattern="[a-z]+"), "no name for the way"),
        (trained(pattern="cl100k"), "no name for the way"),
        (trained(pattern=None), "no name for the way"),
        (
            BPETokenizer(BPEModel.from_ranks(random_ranks(rng, b"abc", 30)), pattern="qwen2"),
            "whole pieces",
        ),
        (trained(special_tokens={"Ġthe": 900}), "mix up the tokens"),
    ]:
        with pytest.raises(ConversionError, match=why):
            again(tokenizer, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_token_that_ranks_before_its_part(tmp_path):
    early = BPEModel.from_ranks({bytes([b]): b + 2 for b in range(256)} | {b"abc": 0, b"ab": 300})
    ours = BPETokenizer(early, pattern="llama3")
    theirs = again(ours, tmp_path)
    for text in ("abc", "aabcbc", "abcab", "cab", "bcabcc"):
        assert theirs.encode(text) == ours.encode(text), text


def test_whole_pieces_decide_the_name(tmp_path):
    ranks = {bytes([b]): b for b in range(256)} | {b"xyz": 256}
    whole = BPETokenizer(BPEModel.from_ranks(ranks), pattern="llama3")
    theirs = again(whole, tmp_path)
    assert theirs.encode("xyz") == whole.encode("xyz") == [256]
    merged = BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=False), pattern="llama3")
    theirs = again(merged, tmp_path)
    assert GGUF_PRE[read_metadata(tmp_path / "t.gguf").metadata[f"{KEY}pre"]].ignore_merges is False
    assert theirs.encode("xyz") == merged.encode("xyz") == [*b"xyz"]


def kit(name):
    return BPETokenizer.from_pretrained(shared(f"conformance/tokenizers/{name}"))


@pytest.mark.parametrize("name", ["gpt2", "zoo-gpt2", "zoo-llama3"])
def test_tokenizers_of_the_kit(name, tmp_path):
    ours = kit(name)
    convert(ours, tmp_path / "k.gguf", "gguf")
    same(ours, BPETokenizer.from_pretrained(tmp_path / "k.gguf"), amount(100, 5_000))


@pytest.mark.parametrize(("name", "feature"), [("phi-3-mini", "flags"), *[("qwen2.5", "normalizer")] * SOAK])
def test_what_changes_ids_must_be_asked_for(name, feature, tmp_path):
    ours = kit(name)
    with pytest.raises(ConversionError, match=f"gguf has no {feature}, and without it ids change"):
        convert(ours, tmp_path / "k.gguf", "gguf")
    assert not (tmp_path / "k.gguf").exists()
    lost = {loss.feature: loss.changes_ids for loss in convert(ours, tmp_path / "k.gguf", "gguf", lossy=True)}
    assert lost[feature]
    theirs = BPETokenizer.from_pretrained(tmp_path / "k.gguf")
    text = "Nothing in here is normalized or has a flag."
    assert theirs.encode(text) == ours.encode(text)
