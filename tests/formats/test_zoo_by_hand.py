"""tokenizer.json files made by hand: what is rare in trained ones, and where bpelab means to differ from tokenizers."""

import json

import pytest

from bpelab import BPETokenizer, TokenizerFileError
from bpelab.model import disk_cache
from bpelab.unicode.byte_alphabet import CHAR_OF_BYTE

from ..conftest import amount
from .families import families
from .test_zoo import Reference, check
from .zoo import JSON, added, behind, byte_level, metaspace, replace, roberta, sequence, split, trained_model, whole

ALPHABET = list(CHAR_OF_BYTE.values())


def model(tokens: list[str], merges: list[str] | list[list[str]], **more) -> JSON:
    """A model of characters or bytes; the merges' results are tokens too."""
    pairs = [entry.split(" ") if isinstance(entry, str) else entry for entry in merges]
    names = dict.fromkeys([*tokens, *(left + right for left, right in pairs)])
    section = {"type": "BPE", "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    flags = {"dropout": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    return {**section, **flags, "vocab": {name: n for n, name in enumerate(names)}, "merges": merges, **more}


def adding(names: list[str], flags) -> dict[str, list[JSON]]:
    """Added tokens beside ALPHABET and WORDS, with the ids of those where they are among them; flags(n) for the nth."""
    entries = behind(model(ALPHABET, WORDS), *names)
    return {"added_tokens": [entry | flags(n) for n, entry in enumerate(entries)]}


def spelled(*bytes_: int) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in bytes_]


def renumbered(section: JSON, change) -> JSON:
    return {**section, "vocab": {token: change(token_id) for token, token_id in section["vocab"].items()}}


SOME = [char for char in ALPHABET if char not in "ĊÃðe9"]
WORDS = ["a b", "b c", "ab c", "a bc", "abc abc", "Ġ a", "Ġa b"]
CHARS = list("abcdth e▁é日<>unk/s")
IN_BYTES = {"pre_tokenizer": byte_level(True), "decoder": byte_level()}
MADE: dict[str, JSON] = {
    "several merges with one result": whole(model(ALPHABET, WORDS), **IN_BYTES),
    "duplicate merges": whole(model(ALPHABET, [*WORDS, "a b", "b c", "a b"]), **IN_BYTES),
    "ranks that are no ids": whole(renumbered(model(ALPHABET, WORDS), lambda n: 300 - n), **IN_BYTES),
    "equal neighbours": whole(model(ALPHABET, ["a a", "aa a", "aa aa", "a aa"]), **IN_BYTES),
    "holes and far ids": whole(renumbered(model(ALPHABET, WORDS), lambda n: n * n), **IN_BYTES),
    "merges with spaces": whole(model(CHARS, [[" ", "a"], [" a", " "], ["a", " b"], [" ", "b"]])),
    "missing bytes": whole(model(SOME, ["a b", "Ġ a"]), **IN_BYTES),
    "missing bytes, unk": whole(model([*SOME, "<unk>"], WORDS, unk_token="<unk>"), **IN_BYTES),
    "missing bytes, fused": whole(
        model([*SOME[:90], "<unk>", "Ġ"], WORDS[:5], unk_token="<unk>", fuse_unk=True), **IN_BYTES
    ),
    "missing bytes, merging": whole(model([*ALPHABET[:40], *"ab"], ["a b"]), **IN_BYTES),
    "orphans, taken whole": whole(model([*ALPHABET, "Ġthe", "cab"], WORDS, ignore_merges=True), **IN_BYTES),
    "orphans, left": whole(model([*ALPHABET, "Ġthe", "cab"], WORDS), **IN_BYTES),
    "no unk": whole(model(CHARS, ["a b"])),
    "unk": whole(model([*CHARS, "<unk>"], ["a b", "<unk> a"], unk_token="<unk>")),
    "all bytes spelled": whole(model([*CHARS, *spelled(*range(256))], ["a b"], byte_fallback=True)),
    "some bytes spelled": whole(
        model([*CHARS, *spelled(*range(0xA0)), "<unk>"], ["a b"], byte_fallback=True, unk_token="<unk>", fuse_unk=True)
    ),
    "spelled bytes that merge": whole(
        model([*CHARS, *spelled(*range(256))], ["<0x0A> <0x0A>", "<0x0A> ▁", "▁ a"], byte_fallback=True),
        normalizer=replace(" ", "▁"),
    ),
    "characters that vanish before a space": whole(model(CHARS, ["a ▁", "▁ ▁", "▁ a"]), normalizer=replace(" ", "▁")),
    "suffix, and bytes spelled": whole(
        model([*ALPHABET, *spelled(*range(256))], ["a b"], byte_fallback=True, end_of_word_suffix="</w>"), **IN_BYTES
    ),
    "alphabet, and a metaspace": whole(
        model([*ALPHABET, "▁", "<unk>"], ["▁ a"], unk_token="<unk>"),
        pre_tokenizer=sequence("pretokenizers", byte_level(True), metaspace()),
    ),
    "metaspace first, text stripped": whole(
        model(CHARS, ["▁ a"]),
        normalizer={"type": "Strip", "strip_left": True, "strip_right": False},
        pre_tokenizer=metaspace("first"),
    ),
    "overlapping added tokens": whole(
        model(ALPHABET, WORDS),
        **IN_BYTES,
        **adding(
            ["<a>", "<a><b>", "<b><c>", "<a><b><c>", "a", "<|end|>", "<|end"], lambda n: {"special": n in (0, 2, 6)}
        ),
    ),
    "added tokens that take white space": whole(
        model(ALPHABET, WORDS),
        **IN_BYTES,
        **adding(
            [" ", "  ", "a", "b", "\n", " \n"],
            lambda n: {"special": False, "lstrip": n % 2 == 0, "rstrip": n > 1, "single_word": n == 3},
        ),
    ),
    "added tokens that are equal once normalized": whole(
        model(ALPHABET, WORDS),
        **IN_BYTES,
        normalizer=sequence("normalizers", {"type": "NFC"}, {"type": "Lowercase"}),
        **adding(["The", "the", "THE", "É", "e\u0301"], lambda n: {"special": n == 2, "normalized": True}),
    ),
    "added tokens that mean bytes": whole(
        model(ALPHABET, WORDS),
        **IN_BYTES,
        added_tokens=[
            *(added(name, ALPHABET.index(name), special=name < "b") for name in ("é", "~", "a", "Ġ")),
            *(added(name, 262 + n) for n, name in enumerate(("\n", " ", "日本"))),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_made(name, tmp_path):
    for seed in range(amount(1, 20)):
        check(MADE[name], tmp_path, seed, amount(25, 300))


def opened(data: JSON, folder) -> BPETokenizer:
    (folder / "tokenizer.json").write_text(json.dumps(data))
    return BPETokenizer.from_pretrained(folder)


class TestMeantToDiffer:
    def test_ids_in_the_file_are_honoured(self, tmp_path):
        section = model(ALPHABET, WORDS)
        section["vocab"]["far"] = 5_000
        tokens = [added("<s>", 900), added("<x>", 7_000, special=False)]
        data = whole(section, **IN_BYTES, added_tokens=tokens)
        ours = opened(data, tmp_path)
        theirs = Reference(data, ours)
        assert (theirs.plain.token_to_id("<s>"), theirs.plain.token_to_id("<x>")) == (263, 264)
        assert ours.encode("<s><x>", allowed_special="all") == [900, 7_000]
        assert ours.decode([900, 7_000]) == "<s><x>"
        ours.save(tmp_path / "saved")
        saved = json.loads((tmp_path / "saved" / "tokenizer.json").read_text())
        assert Reference(saved, ours).plain.encode("<s><x>").ids == [900, 7_000]

    @pytest.mark.parametrize("ignore_merges", [False, True])
    def test_a_special_token_that_no_merge_makes_comes_out_of_no_text(self, ignore_merges, tmp_path):
        section = model([*ALPHABET, "<s>"], WORDS, ignore_merges=ignore_merges)
        data = whole(section, **IN_BYTES | {"pre_tokenizer": byte_level()}, added_tokens=[added("<s>", 256)])
        ours = opened(data, tmp_path)
        theirs = Reference(data, ours).plain
        theirs.encode_special_tokens = True
        assert (256 in theirs.encode("<s>").ids) == ignore_merges
        assert 256 not in ours.encode_ordinary("<s>") + ours.encode("<s>")
        assert ours.encode("<s>", allowed_special="all") == [256]

    def test_a_spelled_byte_that_is_special_still_spells(self, tmp_path):
        section = model([*CHARS, *spelled(*range(256))], ["a b"], byte_fallback=True)
        newline = section["vocab"]["<0x0A>"]
        ours = opened(whole(section, added_tokens=[added("<0x0A>", newline)]), tmp_path)
        assert ours.encode_ordinary("a\n") == [0, newline]
        assert newline not in ours.encode_ordinary("<0x0A>")

    def test_an_added_token_that_the_normalizer_empties_is_not_found(self, tmp_path):
        """Hugging Face finds it between all characters, and breaks off at some."""
        strip = {"type": "Strip", "strip_left": True, "strip_right": True}
        tokens = [added("\n", 262, normalized=True)]
        ours = opened(whole(model(ALPHABET, WORDS), **IN_BYTES, normalizer=strip, added_tokens=tokens), tmp_path)
        assert ours.encode("a\nb", allowed_special="all") == [
            ours.model.ids[b"a"],
            ALPHABET.index("Ċ"),
            ours.model.ids[b"b"],
        ]

    def test_dropout_is_off_unless_asked_for(self, tmp_path):
        data = whole(model(ALPHABET, WORDS, dropout=1.0), **IN_BYTES)
        ours = opened(data, tmp_path)
        assert len(ours.encode("abc")) < len(ours.encode_with_dropout("abc")) == 3
        assert (tmp_path / "tokenizer.json").exists() and ours.spec.dropout == 1.0

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "pre_tokenizer.*length"),
            ({"pre_tokenizer": sequence("pretokenizers", byte_level(), byte_level())}, "at most 1 ByteLevel"),
            ({"pre_tokenizer": {"type": "Magic"}}, "pre_tokenizer.type: 'Magic' is not supported"),
            ({"pre_tokenizer": split("a") | {"magic": 1}}, "pre_tokenizer.magic"),
            ({"normalizer": {"type": "NFC", "magic": 1}}, "normalizer.magic"),
            ({"post_processor": roberta("a", 1, "b", 2) | {"magic": 1}}, "post_processor.magic"),
            ({"decoder": {"type": "Fuse", "magic": 1}}, "decoder.magic"),
        ],
    )
    def test_what_is_unknown_is_refused_by_name(self, change, message, tmp_path):
        with pytest.raises(TokenizerFileError, match=message):
            opened(whole(model(ALPHABET, WORDS), **change), tmp_path)

    def test_a_merge_without_the_prefix_is_refused(self, tmp_path):
        section = model(["a", "##b", "xxb", "ab"], [], continuing_subword_prefix="##")
        with pytest.raises(TokenizerFileError, match=r"model.merges\[0\]: 'xxb' doesn't begin with"):
            opened(whole({**section, "merges": [["a", "xxb"]]}), tmp_path)


@pytest.mark.parametrize("flags", [(), ("trim_offsets",), ("add_prefix_space",), ("trim_offsets", "add_prefix_space")])
def test_roberta_without_its_flags_is_bert(flags, tmp_path):
    full = roberta("a", 1, "b", 2)
    data = whole(model(ALPHABET, WORDS), post_processor={key: full[key] for key in ("type", "sep", "cls", *flags)})
    ours = opened(data, tmp_path)
    theirs = Reference(data, ours).plain
    ours.save(tmp_path / "saved")
    kind = json.loads(theirs.to_str())["post_processor"]["type"]
    assert json.loads((tmp_path / "saved" / "tokenizer.json").read_text())["post_processor"]["type"] == kind
    assert ours.spec.post_processor.apply([7], pair=[8]) == theirs.encode("a", "a").ids[:1] + [7] + (
        [2, 8, 2] if len(flags) < 2 else [2, 2, 8, 2]
    )


def test_sections_as_older_versions_wrote_them(tmp_path):
    data = whole(model(ALPHABET, WORDS), truncation={"max_length": 3, "strategy": "LongestFirst", "stride": 0})
    ours = opened(data, tmp_path)
    theirs = Reference(data, ours).plain
    assert ours.spec.truncation.direction == "Right"
    assert json.loads(theirs.to_str())["truncation"] is None  # taken away by Reference: it was read


def test_a_partly_allowed_special_token_inside_another(tmp_path):
    """What isn't allowed hides ordinary added tokens, and not the special ones that are allowed."""
    names = ["<<s>>", "<s>", "s>"]
    data = whole(model(ALPHABET, WORDS), **IN_BYTES, **adding(names, lambda n: {"special": n < 2}))
    ours = opened(data, tmp_path)
    outer, inner, plain = (ours.token_to_id(name) for name in names)
    less, more = ours.model.ids[b"<"], ours.model.ids[b">"]
    assert ours.encode("<<s>>", allowed_special="all") == [outer]
    assert ours.encode("<<s>>", allowed_special={"<s>"}) == [less, inner, more]
    assert plain not in ours.encode("<<s>>")
    assert ours.encode("s>") == [plain]


def test_kept_tables_say_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_cache, "SMALLEST", 1)
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path / "cache"))
    for name, data in [*families().items(), *MADE.items()]:
        first = opened(data, tmp_path)
        count = len(list((tmp_path / "cache").iterdir()))
        again = opened(data, tmp_path)
        assert len(list((tmp_path / "cache").iterdir())) == count
        text = "The cat's abc  <s> 日本\n12345 é" + "".join(entry["content"] for entry in data["added_tokens"][:5])
        for options in ({}, {"allowed_special": "all"}):
            assert first.encode(text, **options) == again.encode(text, **options), name
        assert again.model.tokens == first.model.tokens, name
        assert dict(again.model.merges) == dict(first.model.merges), name
        assert again.model.initial_symbols == first.model.initial_symbols, name


def test_the_trained_vocabularies_are_what_they_should_be():
    assert "<0x0A>" in trained_model("spaces")["vocab"] and trained_model("clip")["end_of_word_suffix"] == "</w>"
    assert any(left.startswith("##") for left, _ in trained_model("prefix")["merges"])
