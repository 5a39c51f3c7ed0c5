"""The shipped chat model: its text, its tokenizer, its two files of weights, and what its card says of them."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import bpelab
from bpelab import BPETokenizer
from tools.make_tiny_chat.card import table
from tools.make_tiny_chat.corpus import Corpus, leaks, make_corpus
from tools.make_tiny_chat.score import judge
from tools.make_tiny_chat.spelling import made_up, words
from tools.make_tiny_chat.tokens import SPECIAL, make_tokenizer
from tools.make_tiny_chat.written import blocks

from ..conftest import amount, encoding

np = pytest.importorskip("numpy")
FOLDER = Path(bpelab.__file__).parent / "data" / "tiny_chat"
PARTS = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_corpus()


@pytest.fixture(scope="module")
def turns(corpus) -> list[tuple[str, str]]:
    """Every question of the training text with its answer."""
    found = []
    for talk in corpus.train:
        said = [message["content"] for message in talk if message["role"] != "system"]
        found += zip(said[::2], said[1::2])
    return found


@pytest.fixture(scope="module")
def scores():
    return json.loads((FOLDER / "scores.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def tokenizer() -> BPETokenizer:
    return BPETokenizer.from_pretrained(FOLDER)


@pytest.fixture(scope="module")
def weights():
    safetensors = pytest.importorskip("safetensors.numpy")
    return safetensors.load_file(FOLDER / "model.safetensors")


# -- the text ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_corpus_is_the_same_each_time_and_as_large_as_the_card_says(corpus):
    assert make_corpus() == corpus
    card = (FOLDER / "README.md").read_text("utf-8")
    assert f"{len(corpus.train):,} conversations" in card
    assert f"about {len(list(blocks('facts.txt')))} facts" in card
    assert len({repr(talk) for talk in corpus.train}) == len(corpus.train)


@pytest.mark.slow
def test_every_fact_is_asked_in_many_ways(turns):
    asked = Counter(answer for _, answer in dict(turns).items())
    facts = [answer for _, _, answer in blocks("facts.txt")]
    assert len(set(facts)) == len(facts) >= 150
    assert min(asked[answer] for answer in facts) >= 12


@pytest.mark.slow
def test_no_held_out_question_is_in_the_training_text(corpus):
    assert leaks(corpus) == []
    assert len(corpus.scored()) >= 300
    question = corpus.held[0]
    leaked = [*corpus.train, [*question.messages, {"role": "assistant", "content": question.answer}]]
    assert leaks(Corpus(leaked, corpus.held)) == [question.messages[0]["content"]]


def test_no_held_out_word_is_ever_spelled(corpus, turns):
    pattern, text = r"spelled ([a-z-]+)", "\n".join(answer for _, answer in turns)
    held = set(re.findall(pattern, "\n".join(question.answer for question in corpus.held)))
    spelled = set(re.findall(pattern, text)) | set(re.findall(r"^([a-z-]+): that", text, re.M))
    assert len(held) > 100 and len(spelled) > 2_000
    assert not held & spelled


def test_the_words_are_those_of_the_book_and_others():
    import random

    assert "token" in words() and "harbour" in words() and all(word.isalpha() for word in words())
    assert made_up(random.Random(1), 50) == made_up(random.Random(1), 50)


ANSWERS = (
    (r"It is spelled (.+)\.", lambda said, word: said.split("-") == list(word)),
    (r"(.+): that makes (\d+) letters?\.", lambda said, n, word: said.split("-") == list(word) and int(n) == len(word)),
    (r"Backwards it is (.+)\.", lambda said, word: said.split("-")[::-1] == list(word)),
    (r'"(\w+)" begins with (.)\.', lambda said, letter, word: said == word and word.startswith(letter)),
    (r'"(\w+)" ends with (.)\.', lambda said, letter, word: said == word and word.endswith(letter)),
    (r"(.+): each letter is one byte, that makes (\d+) bytes\.", lambda said, n, word: len(word.encode()) == int(n)),
)
BARE = re.compile(r"(?:pell|is|in|of) ([a-z]+)(?: spelled)?[.?]?(?: Thanks!| Please answer.)?$")


@pytest.mark.slow
def test_answers_about_words_are_right(turns):
    """A question names one word, in quotation marks or as its last but one; the answer is checked against that."""
    checked = Counter()
    for question, answer in turns:
        for pattern, right in ANSWERS:
            if match := re.fullmatch(pattern, answer):
                named = re.search(r'"([a-z]+)"', question) or BARE.search(question)
                if named and "its" not in question and named[1] not in ("it", "that"):
                    assert right(*match.groups(), named[1]), (question, answer)
                    checked[pattern] += 1
        if match := re.fullmatch(r"([a-z-]+): (.) is there (\d+) times?\.", answer):
            word, letter, times = match.groups()
            assert word.count(letter) == int(times) and re.search(rf"\b{letter}\b", question), (question, answer)
            assert re.search(rf"\b{word.replace('-', '')}\b", question), (question, answer)
    assert len(checked) == len(ANSWERS) and min(checked.values()) > 500


def test_answers_with_numbers_are_right(turns):
    checked = Counter()
    for question, answer in turns:
        given = [int(number) for number in re.findall(r"\d+", question)]
        said = [int(number) for number in re.findall(r"\d+", answer)]
        if re.search(r"from \d+ to \d+", question):
            step = 1 if given[1] > given[0] else -1
            right = said == list(range(given[0], given[1] + step, step))
        elif answer.startswith("The sum of"):
            right = said == [*given, sum(given)]
        elif re.fullmatch(r"(After|Before) \d+ comes \d+\.", answer):
            right = said[1] == said[0] + (1 if answer[0] == "A" else -1) and given in ([], said[:1])
        elif match := re.fullmatch(r"(After|Before) ([a-z]) comes ([a-z])\.", answer):
            right = ord(match[3]) == ord(match[2]) + (1 if answer[0] == "A" else -1) and f" {match[2]}" in question
        elif answer.startswith("The larger one"):
            right = said == [max(given)]
        elif match := re.fullmatch(r"(.+): that makes (\d+) words?\.", answer):
            row = re.search('"(.+)"', question)[1].split()
            right = match[1].split(", ") == row and len(row) == said[0]
        elif match := re.fullmatch(r"It becomes (.+)\.", answer):
            symbols = re.search(r"[a-z](?:-[a-z])+", question)[0]
            one, two = re.search(r"(?:^|\b)([a-j]) (?:and )?([a-j])\b", question).groups()
            right = match[1] == re.sub(rf"(?<![a-z]){one}-{two}(?![a-z])", one + two, symbols)
        else:
            continue
        assert right, (question, answer)
        checked["words" if answer.endswith(("words.", "word.")) else answer.split()[0]] += 1
    assert checked.keys() == {"Here", "The", "After", "Before", "words", "It"} and min(checked.values()) > 300


def test_answers_about_characters_are_right(turns):
    checked = 0
    for question, answer in turns:
        if match := re.fullmatch(r'"(.)" takes (\d) bytes? in UTF-8: ([0-9A-F ]+)\.', answer):
            assert bytes.fromhex(match[3]).decode() == match[1] in question and len(match[3].split()) == int(match[2])
        elif match := re.fullmatch(r'"(.)" is the code point U\+([0-9A-F]{4,6})\.', answer):
            assert chr(int(match[2], 16)) == match[1] in question
        elif match := re.fullmatch(r'"(.)" is the byte (\d+), in hex ([0-9A-F]{2})\.', answer):
            assert chr(int(match[2])) == match[1] in question and int(match[3], 16) == int(match[2])
        elif match := re.fullmatch(r'The byte (\d+) is "(.)" in ASCII\.', answer):
            assert chr(int(match[1])) == match[2] and match[1] in question
        else:
            continue
        checked += 1
    assert checked > 1_000


@pytest.mark.slow
def test_facts_with_numbers_agree_with_what_they_are_about(tokenizer, weights):
    text = "\n".join(answer for _, _, answer in blocks("facts.txt"))
    assert f"GPT-2 has {encoding('gpt2').n_vocab:,} tokens" in text
    assert round(encoding("cl100k_base").n_vocab, -4) == 100_000 and "about 100,000 tokens" in text
    assert round(encoding("o200k_base").n_vocab, -4) == 200_000 and "about 200,000 tokens" in text
    assert f"{0x110000:,} of them" in text and "\ufeff".encode() == b"\xef\xbb\xbf" and "bytes EF BB BF" in text
    merges = len(tokenizer.model.tokens) - 256
    assert f"{tokenizer.n_vocab:,} tokens: 256 bytes, {merges} merges and {len(SPECIAL)} special tokens" in text
    assert f"about {sum(weight.size for weight in weights.values()) / 1e6:.1f} million parameters" in text
    config = json.loads((FOLDER / "config.json").read_text("utf-8"))
    assert f"I can read {config['max_position_embeddings']} tokens at once" in text


# -- the tokenizer -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_tokenizer_is_the_one_that_the_corpus_teaches(corpus, tokenizer):
    again = make_tokenizer(message["content"] for talk in corpus.train for message in talk)
    assert again.model.tokens == tokenizer.model.tokens
    assert again.eos_token_id == tokenizer.eos_token_id == tokenizer.token_to_id("<|im_end|>")
    assert tokenizer.bos_token_id is None
    assert tokenizer.spec.metadata["chat_template"] == (FOLDER / "chat_template.jinja").read_text("utf-8")


def test_hugging_face_reads_the_tokenizer_and_gives_the_same_ids(corpus, tokenizer):
    theirs = pytest.importorskip("tokenizers").Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    talks = corpus.train[: amount(4_000, len(corpus.train))] + [question.messages for question in corpus.scored()]
    texts = list({message["content"]: None for talk in talks for message in talk})
    assert [row.ids for row in theirs.encode_batch(texts)] == tokenizer.encode_batch(texts, allowed_special="all")


def test_gguf_holds_the_same_tokenizer(corpus, tokenizer):
    other = BPETokenizer.from_pretrained(FOLDER / "model.gguf")
    assert other.model.tokens == tokenizer.model.tokens
    assert other.spec.metadata["chat_template"] == tokenizer.spec.metadata["chat_template"]
    for question in corpus.scored()[:200]:
        ids = [one.apply_chat_template(question.messages, add_generation_prompt=True) for one in (other, tokenizer)]
        assert ids[0] == ids[1]


# -- the weights -------------------------------------------------------------------------------------------------------


def test_both_files_hold_the_same_values_and_are_small(weights):
    gguf = pytest.importorskip("gguf")
    reader = gguf.GGUFReader(FOLDER / "model.gguf")
    theirs = {tensor.name: np.array(tensor.data) for tensor in reader.tensors}
    config = json.loads((FOLDER / "config.json").read_text("utf-8"))
    heads, size = config["num_attention_heads"], config["head_dim"]
    for name, weight in weights.items():
        assert weight.dtype == np.float16 and np.isfinite(weight).all()
        if name == "model.embed_tokens.weight":
            other = theirs.pop("token_embd.weight")
        elif name == "model.norm.weight":
            other = theirs.pop("output_norm.weight")
        else:
            _, _, layer, part = name.removesuffix(".weight").split(".", 3)
            other = theirs.pop(f"blk.{layer}.{PARTS[part]}.weight")
            if part in ("self_attn.q_proj", "self_attn.k_proj"):  # llama.cpp's rows: first and second half in turn
                turned = [*range(0, size, 2), *range(1, size, 2)]
                other = other[[head * size + place for head in range(heads) for place in turned]]
        assert other.dtype == np.float32 and np.array_equal(other, weight.astype(np.float32)), name
    assert not theirs  # embeddings are the output's too
    files = [FOLDER / "model.safetensors", FOLDER / "model.gguf"]
    assert sum(path.stat().st_size for path in files) < 10_000_000


def test_the_settings_are_those_of_the_weights(weights, tokenizer):
    config = json.loads((FOLDER / "config.json").read_text("utf-8"))
    generation = json.loads((FOLDER / "generation_config.json").read_text("utf-8"))
    assert weights["model.embed_tokens.weight"].shape == (config["vocab_size"], config["hidden_size"])
    assert config["vocab_size"] == tokenizer.n_vocab
    assert config["eos_token_id"] == generation["eos_token_id"] == tokenizer.eos_token_id
    assert config["head_dim"] * config["num_attention_heads"] == config["hidden_size"]
    assert len({name.split(".")[2] for name in weights if ".layers." in name}) == config["num_hidden_layers"]


# -- the scores --------------------------------------------------------------------------------------------------------


def test_the_scores_are_those_of_the_answers(corpus, scores):
    questions = corpus.scored()
    assert len(questions) == len(scores["answers"]) == scores["total"]["questions"]
    counts: dict[str, Counter] = {}
    for question, answer in zip(questions, scores["answers"]):
        assert answer["category"] == question.category
        assert answer["said"] == [message["content"] for message in question.messages]
        verdict = judge(question.category, answer["answer"], question.answer)
        assert verdict == answer["verdict"]
        counts.setdefault(question.category, Counter()).update(["questions", verdict])
    for name, found in scores["categories"].items():
        assert {key: found[key] for key in ("questions", "exact", "near")} == {
            key: counts[name][key] for key in ("questions", "exact", "near")
        }
    for key in ("questions", "exact", "near", "stopped"):
        assert scores["total"][key] == sum(found[key] for found in scores["categories"].values())


def test_the_card_shows_these_scores(scores):
    card = (FOLDER / "README.md").read_text("utf-8")
    assert table(scores) in card
    assert "MIT" in card and "python -m tools.make_tiny_chat" in card


def test_most_answers_are_right_and_end():
    total = json.loads((FOLDER / "scores.json").read_text("utf-8"))["total"]
    assert total["exact"] + total["near"] >= 0.85 * total["questions"]
    assert total["stopped"] >= 0.99 * total["questions"]
