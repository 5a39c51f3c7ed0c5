"""Whole tokenizer.json files with the structure of those of model families; the vocabularies are the book's."""

from bpelab.pretokenizers import PATTERNS

from .zoo import (
    BERT,
    FALCON,
    JSON,
    LLAMA_STRIP,
    SPACED,
    SUPERBPE,
    added,
    behind,
    bos,
    byte_level,
    cut_by,
    metaspace,
    replace,
    roberta,
    sequence,
    split,
    template,
    trained_model,
    whole,
)

KIMI = (
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK_V3 = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK_LLM = (
    r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ]+",
    r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    r"\s+$",
    r"[一-龥ࠀ-一가-퟿]+",
)
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"


def families() -> dict[str, JSON]:
    """Whole files, by the name of the family that they imitate."""
    bytes_, spaces, words = trained_model("bytes"), trained_model("spaces"), trained_model("words")
    whole_pieces = {**bytes_, "ignore_merges": True, "vocab": {**bytes_["vocab"], "Ġorphanage": 700, "qzqz": 701}}
    llama = {
        "added_tokens": behind(spaces, "<unk>", "<s>", "</s>"),
        "normalizer": sequence("normalizers", {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")),
        "post_processor": bos("<s>", 1),
        "decoder": sequence("decoders", *SPACED, LLAMA_STRIP),
    }
    gpt2 = {"pre_tokenizer": byte_level(True), "decoder": byte_level(True), "post_processor": byte_level(True)}
    end = {"added_tokens": behind(bytes_, "<|endoftext|>"), "decoder": byte_level()}
    runs = [added(" " * n, 700 + n, special=False, normalized=True) for n in range(24, 1, -1)]
    phi = [added(name, 960 + n, rstrip=True) for n, name in enumerate(("<|assistant|>", "<|end|>", "<|user|>"))]
    nfc = {"normalizer": {"type": "NFC"}}
    chat = behind(bytes_, "<|endoftext|>", "<|im_start|>", "<|im_end|>")
    tools = [added(name, 703 + n, special=False) for n, name in enumerate(("<tool_call>", "</tool_call>", "<think>"))]
    digits = sequence("pretokenizers", {"type": "Digits", "individual_digits": True}, byte_level(True))
    deepseek = (r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", DEEPSEEK_V3)
    clip = trained_model("clip", unk_token="<|endoftext|>")
    clip["vocab"] |= {"<|startoftext|>": len(clip["vocab"]), "<|endoftext|>": len(clip["vocab"]) + 1}
    mask = [
        added(name, 700 + n, lstrip=name == "<mask>")
        for n, name in enumerate(("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    ]
    times = behind(bytes_, "<|endoftext|>", "<|startoftranscript|>", *(f"<|{n / 50:.2f}|>" for n in range(60)))
    return {
        "gpt2": whole(bytes_, **gpt2, added_tokens=behind(bytes_, "<|endoftext|>", normalized=True)),
        "roberta": whole(bytes_, **gpt2 | {"post_processor": roberta("<s>", 700, "</s>", 702)}, added_tokens=mask),
        "bart": whole(bytes_, **gpt2 | {"pre_tokenizer": byte_level(True, True)}, added_tokens=mask),
        "phi-2": whole(bytes_, **gpt2, added_tokens=[*behind(bytes_, "<|endoftext|>"), *runs[::-1]][1:]),
        "phi-3": whole(spaces, **llama | {"added_tokens": [*llama["added_tokens"], *phi]}),
        "llama-2": whole(spaces, **llama),
        "llama-2-legacy": whole({**spaces, "merges": [" ".join(pair) for pair in spaces["merges"]]}, **llama),
        "codellama": whole(
            spaces, **llama | {"added_tokens": [*llama["added_tokens"], *behind(spaces, "▁<PRE>", "▁<MID>")]}
        ),
        "llama-3": whole(
            whole_pieces,
            pre_tokenizer=cut_by(PATTERNS["llama3"].oniguruma),
            added_tokens=behind(whole_pieces, "<|begin_of_text|>", "<|eot_id|>"),
            decoder=byte_level(),
            post_processor=sequence("processors", byte_level(), bos("<|begin_of_text|>", 702)),
        ),
        "mistral-v1": whole(spaces, **llama | {"post_processor": template("<s> $A", "<s> $A $B:1", **{"<s>": 1})}),
        "mistral-v3": whole(
            spaces,
            **llama
            | {
                "normalizer": None,
                "pre_tokenizer": metaspace("first", False),
                "added_tokens": [*llama["added_tokens"], *behind(spaces, "[INST]", "[/INST]")],
            },
        ),
        "tekken": whole(
            whole_pieces, **end | {"added_tokens": behind(whole_pieces, "<s>", "[INST]")}, pre_tokenizer=cut_by(TEKKEN)
        ),
        "gemma": whole(
            spaces,
            **llama
            | {
                "normalizer": replace(" ", "▁"),
                "pre_tokenizer": split(" ", "MergedWithPrevious", kind="String"),
                "decoder": sequence("decoders", *SPACED),
            },
            padding={
                "strategy": "BatchLongest",
                "direction": "Left",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "<pad>",
            },
        ),
        "qwen-2": whole(
            bytes_, **end | {"added_tokens": chat}, **nfc, pre_tokenizer=cut_by(PATTERNS["qwen2"].oniguruma)
        ),
        "qwen-3": whole(
            bytes_, **end | {"added_tokens": [*chat, *tools]}, **nfc, pre_tokenizer=cut_by(PATTERNS["qwen2"].oniguruma)
        ),
        "deepseek-v3": whole(bytes_, **end, normalizer=sequence("normalizers"), pre_tokenizer=cut_by(*deepseek)),
        "deepseek-coder": whole(
            bytes_,
            **end,
            pre_tokenizer=sequence(
                "pretokenizers",
                *map(split, ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", DEEPSEEK_LLM[3])),
                {"type": "Digits", "individual_digits": True},
                byte_level(),
            ),
        ),
        "deepseek-v2": whole(
            bytes_,
            **end,
            pre_tokenizer=sequence(
                "pretokenizers",
                *map(split, ("[\r\n]", *DEEPSEEK_LLM)),
                {"type": "Digits", "individual_digits": True},
                byte_level(),
            ),
        ),
        "falcon": whole(bytes_, **end, pre_tokenizer=sequence("pretokenizers", *FALCON, split("[0-9][0-9][0-9]"))),
        "bloom": whole(bytes_, **end, pre_tokenizer=sequence("pretokenizers", split(BLOOM), byte_level())),
        "starcoder": whole(
            bytes_,
            **end | {"added_tokens": behind(bytes_, "<|endoftext|>", "<fim_prefix>", "<fim_middle>")},
            pre_tokenizer=digits,
        ),
        "smollm": whole(bytes_, **end | {"added_tokens": chat}, pre_tokenizer=digits),
        "command-r": whole(bytes_, **end, **nfc, pre_tokenizer=digits, post_processor=bos("<|endoftext|>", 700)),
        "granite": whole(
            bytes_,
            **gpt2 | {"added_tokens": chat},
            truncation={"direction": "Right", "max_length": 40, "strategy": "LongestFirst", "stride": 0},
        ),
        "gpt-neox": whole(
            bytes_,
            **nfc,
            **gpt2,
            added_tokens=[
                added("<|padding|>", 700),
                *(added(" " * n, 700 + n, special=False, normalized=True) for n in range(1, 24)),
            ],
        ),
        "olmo": whole(
            bytes_, **nfc, **gpt2, added_tokens=behind(bytes_, "|||EMAIL_ADDRESS|||", "<|endoftext|>", special=False)
        ),
        "chatglm": whole(
            whole_pieces,
            pre_tokenizer=cut_by(PATTERNS["cl100k"].oniguruma),
            decoder=byte_level(),
            added_tokens=behind(whole_pieces, "[gMASK]", "<sop>", "<|user|>"),
            post_processor=sequence(
                "processors",
                byte_level(),
                template("[gMASK] <sop> $A", "[gMASK] <sop> $A $B:1", **{"[gMASK]": 702, "<sop>": 703}),
            ),
        ),
        "clip": whole(
            clip,
            normalizer=sequence("normalizers", {"type": "NFC"}, replace(r"\s+", " ", "Regex"), {"type": "Lowercase"}),
            pre_tokenizer=sequence("pretokenizers", split(CLIP, "Removed", True), byte_level()),
            post_processor=roberta("<|startoftext|>", 0, "<|endoftext|>", 1),
            decoder=byte_level(),
            added_tokens=behind(clip, "<|startoftext|>", "<|endoftext|>", normalized=True),
        ),
        "xlm": whole(
            words,
            normalizer=BERT,
            pre_tokenizer={"type": "BertPreTokenizer"},
            decoder={"type": "BPEDecoder", "suffix": "</w>"},
            added_tokens=behind(words, "<unk>", "<s>", "</s>", "<special1>"),
        ),
        "subword-prefix": whole(
            trained_model("prefix"),
            pre_tokenizer={"type": "Whitespace"},
            decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
            added_tokens=behind(words, "<unk>", "<s>", "</s>"),
        ),
        "superbpe": whole(
            bytes_,
            **end,
            pre_tokenizer=sequence("pretokenizers", split(SUPERBPE), split(PATTERNS["cl100k"].oniguruma), byte_level()),
        ),
        "kimi": whole(bytes_, **end | {"added_tokens": chat}, pre_tokenizer=cut_by(KIMI)),
        "nllb": whole(
            {**spaces, "byte_fallback": False},
            added_tokens=[*llama["added_tokens"], *behind(spaces, "eng_Latn", "fra_Latn", "<mask>")],
            normalizer=sequence("normalizers", {"type": "Nmt"}, {"type": "NFKC"}, replace(" {2,}", " ", "Regex")),
            pre_tokenizer=metaspace(),
            decoder=metaspace(),
            post_processor=template("eng $A </s>", "eng $A $B </s>", **{"eng": 9, "</s>": 2}),
        ),
        "whisper": whole(
            bytes_,
            **gpt2 | {"post_processor": template("a $A:0 b", "a $A:0 $B:1 b:1", a=700, b=701)},
            added_tokens=times,
        ),
        "gpt2-of-old": {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            **gpt2,
            "added_tokens": behind(bytes_, "<|endoftext|>", normalized=True),
            "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
            "model": {
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": "",
                "end_of_word_suffix": "",
                "fuse_unk": False,
                "vocab": bytes_["vocab"],
                "merges": ["#version: 0.2", *map(" ".join, bytes_["merges"])],
            },
        },
    }
