"""The next byte: its probability is that of the definition, a sum over texts, for random models and the shipped one."""

import math
import random
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bpelab import BPETokenizer, ConversationError
from bpelab.chat import ChatSession
from bpelab.errors import BackendError
from bpelab.prefix import ByteModel, CoverShares, TextProbability
from bpelab.prefix.definition import first_cover
from bpelab.prefix.served import token_texts

from ..conftest import amount
from .random_vocabularies import END as END_TOKEN, SENTENCEPIECE, random_beginning, random_case, random_sentencepiece

CASES = [  # as in random_vocabularies, with fewer characters, so that longer texts can be tried
    (None, "abécè", "abé"),
    ("gpt2", "ac '", "a '"),
    ("cl100k", "a c12", "a 1"),
    (r"\s+(?!\S)|\S+|\s", "ab c\n", "ab "),
    ("[ab]+", "abc d", "ab "),
    ("a{0,2}b|a", "abcd", "abc"),
    (r"(?<=a)b+|[^b]c?", "abcd", "abc"),
]
END = END_TOKEN.id
ROWS = 410
LONGER = 4
T = BPETokenizer.train("low lower lowest " * 9, 262)


class Table:
    """A model whose logits depend on the last id and on how many there are, at random; only `possible` ids are."""

    def __init__(self, seed, possible, rows=ROWS):
        self.seed, self.possible, self.rows = seed, list(possible), rows
        self.known = {}

    def after(self, ids):
        """(The logits after ids, the probabilities)."""
        key = (*ids[-1:], len(ids) % 3)
        if key not in self.known:
            rng, logits = random.Random(str((self.seed, key))), [-math.inf] * self.rows
            for token in self.possible:
                logits[token] = rng.gauss(0, 2)
            row = list(map(math.exp, logits))
            whole = sum(row)
            self.known[key] = logits, [each / whole for each in row]
        return self.known[key]

    def logits(self, ids):
        return self.after(ids)[0]

    def probability(self, ids):
        """That of ids, one after the other."""
        return math.prod(self.after(ids[:at])[1][token] for at, token in enumerate(ids))


def by_definition(tokenizer, table, data, alphabet):
    """(The probability of each next byte, that of the end), summed over the covers of all texts up to a length."""
    begun = data.decode(errors="ignore")
    tails = ("".join(tail) for size in range(LONGER + 1) for tail in product(alphabet, repeat=size))
    texts = [text for tail in tails if (text := begun + tail).encode().startswith(data)]
    covers, end = {}, 0.0
    for text, ids in zip(texts, tokenizer.pipeline.lists(texts)):
        if len(text.encode()) == len(data):
            end = table.probability([*ids, END])
        else:
            longer = text.encode()[: len(data) + 1]
            covers.setdefault(longer[-1], set()).add(first_cover(tokenizer, ids, longer))
    weights = {byte: sum(map(table.probability, found)) for byte, found in covers.items()}
    whole = sum(weights.values()) + end
    return {byte: weight / whole for byte, weight in weights.items()}, end / whole


KINDS = [partial(random_case, cases=CASES), partial(random_sentencepiece, cases=SENTENCEPIECE[:4])]


@given(st.integers(0, 2**32), st.sampled_from(KINDS))
def test_it_is_that_of_the_definition(seed, kind):
    rng = random.Random(seed)
    tokenizer, alphabet = kind(rng, special=(END_TOKEN,))
    texts = token_texts(tokenizer).texts
    ids = [token for token, spelled in texts.items() if set(spelled) <= set(alphabet.encode())]
    assert len(ids) < 30
    table = Table(seed, [*ids, END])
    byte_model = ByteModel(table.logits, tokenizer, stop=[END])
    for _ in range(amount(5, 20)):
        data = random_beginning(rng, alphabet)
        found, (expected, end) = byte_model.next_bytes(data), by_definition(tokenizer, table, data, alphabet)
        assert found.end == pytest.approx(end, abs=1e-9)
        assert {byte for byte, share in found.probabilities.items() if share} == set(expected)
        for byte, share in expected.items():
            assert found.probabilities[byte] == pytest.approx(share, abs=1e-9)
        assert found.missing == 0


@given(st.integers(0, 2**32), st.sampled_from(KINDS))
def test_how_probable_a_text_and_its_covers_are(seed, kind):
    rng = random.Random(seed)
    tokenizer, alphabet = kind(rng)
    data = random_beginning(rng, alphabet)
    texts = token_texts(tokenizer).texts
    table = Table(seed, texts, max(texts) + 1)
    byte_model = ByteModel(table.logits, tokenizer)
    expected = {tuple(ids): table.probability(ids) for ids in tokenizer.covers(data)}
    found = byte_model.probability(data)
    assert math.exp(found.log_covers) == pytest.approx(sum(expected.values()), rel=1e-9)
    answer = byte_model.covers(data)
    assert answer.missing == 0 and answer.evaluations == 0  # all were asked for the probability
    shares = answer.shares
    assert set(shares) == set(expected) and list(shares.values()) == sorted(shares.values(), reverse=True)
    for cover, probability in expected.items():
        assert shares[cover] == pytest.approx(probability / sum(expected.values()), rel=1e-9)
    try:
        ids = tokenizer.encode(data.decode())
    except UnicodeDecodeError:
        assert found.log_canonical is None
    else:
        assert math.exp(found.log_canonical) == pytest.approx(table.probability(ids), rel=1e-9)
        assert found.log_canonical <= found.log_covers + 1e-9


@given(st.integers(0, 2**32), st.sampled_from(KINDS))
def test_all_spellings_of_a_text(seed, kind):
    rng = random.Random(seed)
    tokenizer, alphabet = kind(rng)
    data = random_beginning(rng, alphabet)[:4]
    served = token_texts(tokenizer)
    table = Table(seed, served.texts, max(served.texts) + 1)
    texts = {
        token: text for token, text in served.texts.items() if text and token not in tokenizer.special_tokens.values()
    }

    def spelled(ids, rest):
        """The probabilities of what spells the rest, one token after the other."""
        for token, text in texts.items():
            if text.startswith(rest):
                yield table.probability([*ids, token])
            elif rest.startswith(text):
                yield from spelled([*ids, token], rest[len(text) :])

    try:
        found = ByteModel(table.logits, tokenizer, max_evaluations=1000).probability(data, spellings=True)
    except ValueError:  # bytes that no text begins with, after they were cut
        return
    assert found.missing_spellings == 0 and found.log_spellings >= found.log_covers - 1e-9
    expected = math.fsum(spelled([], served.prefix + data)) if data else 1
    assert math.exp(found.log_spellings) == pytest.approx(expected, rel=1e-9)
    few = ByteModel(table.logits, tokenizer, max_evaluations=2).probability(data, spellings=True)
    low = math.exp(few.log_spellings)
    assert low <= expected * (1 + 1e-9)
    assert few.missing_spellings == 1 or expected <= low / (1 - few.missing_spellings) * (1 + 1e-9)


def test_spellings_of_a_long_text_begin_with_its_likeliest_cover():
    """However few calls are left for others, it is among those that are added up."""
    byte_model = ByteModel(Table(5, range(262), 262).logits, T, max_evaluations=4)
    text = "slower lowest " * 40 + "low"
    found, shares = byte_model.probability(text, spellings=True), byte_model.covers(text).shares
    likeliest = found.log_covers + math.log(max(shares.values()))
    assert -5_000 < likeliest <= found.log_spellings + 1e-6 and found.missing_spellings > 0.99


def test_spellings_with_a_cover_that_cannot_be():
    """Nothing is known of what lies ahead then, and the likeliest beginnings come first."""
    possible = [token for token, text in T.model.tokens.items() if len(text) == 1]
    found = ByteModel(Table(5, possible, 262).logits, T).probability("lower", spellings=True)
    assert found.log_covers == -math.inf < found.log_spellings and found.missing_spellings == 0


def test_spellings_are_asked_for():
    byte_model = ByteModel(lambda ids: [0.0] * 262, T)
    assert byte_model.probability("low").log_spellings is None
    assert byte_model.probability("", spellings=True) == TextProbability(0.0, 0.0, 0, 0.0, 0.0, 0.0)
    with pytest.raises(TypeError, match="spellings is True or False, not 'yes'"):
        byte_model.probability("low", spellings="yes")


def test_nothing_is_certain():
    byte_model = ByteModel(lambda ids: [0.0] * 262, T)
    assert byte_model.probability("") == TextProbability(0.0, 0.0, 0, 0.0)
    assert byte_model.covers("") == CoverShares({(): 1.0}, 0, 0.0)


def test_next_characters_are_made_of_next_bytes():
    byte_model = ByteModel(Table(3, range(262), 262).logits, T)
    for prompt in ("lo", "é".encode()[:1], "日".encode()[:1], "日".encode()[:2]):
        found = byte_model.next_characters(prompt, 0.002)
        assert found and list(found.values()) == sorted(found.values(), reverse=True)
        assert min(found.values()) >= 0.002
        data = prompt.encode() if isinstance(prompt, str) else prompt
        for char, probability in list(found.items())[:5]:
            expected, at = 1.0, data
            for byte in (data.decode(errors="ignore") + char).encode()[len(data) :]:
                expected *= byte_model.next_bytes(at).probabilities[byte]
                at += bytes([byte])
            assert probability == pytest.approx(expected)


class Shipped:
    """The shipped model after a question, as one of bytes and as one of tokens, both by the same logits."""

    def __init__(self, question):
        session = ChatSession(max_new_tokens=60)
        self.covers, self.encode, self.stop = session.tokenizer.covers, session.tokenizer.encode, session.stop
        self.before = tuple(session.byte_model(question).before)
        self.logits = cache(lambda ids: session.backend.next_logits(ids).astype(float))
        self.byte_model = ByteModel(
            lambda ids: self.logits(tuple(ids)), session.tokenizer, before=self.before, stop=self.stop
        )
        self.answer = session.ask(question).text.encode()

    def probabilities(self, ids):
        weights = np.exp(self.logits((*self.before, *ids)))
        return weights / weights.sum()

    def probability(self, ids):
        """That of ids, one after the other."""
        return math.prod(float(self.probabilities(ids[:at])[token]) for at, token in enumerate(ids))

    def by_covers(self, data):
        """(The probability of each next byte, that of the end), summed over covers of `data` and one more byte."""
        weights, end = {}, 0.0
        for byte in range(256):
            try:
                covers = self.covers(data + bytes([byte]))
            except ValueError:  # no text begins with these
                continue
            if covers:
                weights[byte] = math.fsum(map(self.probability, covers))
        try:
            ids = self.encode(data.decode())
        except UnicodeDecodeError:
            pass
        else:
            end = self.probability(ids) * float(self.probabilities(ids)[[*self.stop]].sum())
        whole = math.fsum([*weights.values(), end])
        return {byte: weight / whole for byte, weight in weights.items()}, end / whole


def check_shipped(model, data):
    found, (expected, end) = model.byte_model.next_bytes(data), model.by_covers(data)
    assert found.missing == 0 and found.end == pytest.approx(end, abs=1e-9)
    assert set(found.probabilities) == set(expected)
    for byte, share in found.probabilities.items():
        assert share == pytest.approx(expected[byte], abs=1e-9)


@pytest.mark.parametrize("prompt", ["", "A toke", "A token is ", "It's", "Yes.\n", "é".encode()[:1]])
def test_the_shipped_model(prompt):
    check_shipped(Shipped("What is a token?"), prompt if isinstance(prompt, bytes) else prompt.encode())


@pytest.mark.parametrize("question", ["What is a token?", "How many bytes has é?", "Tell me a joke.", "How are you?"])
def test_the_shipped_model_where_its_answer_is_cut(question):
    model, rng = Shipped(question), random.Random(question)
    for _ in range(amount(2, 100)):
        check_shipped(model, model.answer[: rng.randrange(len(model.answer))])


def test_a_prompt_may_end_inside_a_token():
    """With the space, the usual way asks the model for a token that it has never seen after one."""
    byte_model = ChatSession().byte_model("What is a token?")
    for prompt, after in (("A token is", " "), ("A token is ", "a"), ("A toke", "n"), ("A", " ")):
        found = byte_model.next_bytes(prompt)
        assert chr(max(found.probabilities, key=found.probabilities.get)) == after, prompt


def test_a_text_stands_alone_after_a_bos_token():
    session = ChatSession()
    assert session.byte_model().before == [session.tokenizer.eos_token_id]
    with pytest.raises(ConversationError, match="neither a bos nor an eos token"):
        ChatSession(tokenizer=session.tokenizer.with_options(eos_token=None)).byte_model()


def test_calls_are_counted_and_cached():
    asked = []

    def logits(ids):
        asked.append(tuple(ids))
        return [0.0] * 262

    byte_model = ByteModel(logits, T, before=[7])
    first = byte_model.next_bytes("slo")
    assert first.evaluations == len(asked) == len(set(asked)) > 1
    assert all(ids[0] == 7 for ids in asked)
    assert byte_model.next_bytes("slo").evaluations == 0
    again = ByteModel(logits, T, before=[7], cache_size=1)
    assert again.next_bytes("slo").evaluations == again.next_bytes("slo").evaluations == first.evaluations


def test_a_limit_on_calls_is_reported():
    """What is missing bounds how much the probabilities differ from all of it."""
    logits = Table(1, range(262), 262).logits
    exact = ByteModel(logits, T).next_bytes("slow l")
    assert exact.missing == 0 and exact.evaluations == 3
    for most in range(1, exact.evaluations):
        limited = ByteModel(logits, T, max_evaluations=most).next_bytes("slow l")
        assert limited.evaluations == most and 0 < limited.missing <= 1
        wrong = sum(abs(limited.probabilities.get(byte, 0) - share) for byte, share in exact.probabilities.items()) / 2
        assert wrong <= limited.missing + 1e-12


def test_a_long_prompt_costs_no_more_calls():
    byte_model = ByteModel(lambda ids: [0.0] * 262, T)
    assert byte_model.next_bytes("lower " * 500 + "lo").evaluations == byte_model.next_bytes("lower lo").evaluations


@pytest.mark.parametrize("row", [[math.nan] * 262, [-math.inf] * 262, [math.inf] * 262])
def test_logits_that_are_no_numbers(row):
    with pytest.raises(BackendError, match="the model's largest logit is"):
        ByteModel(lambda ids: row, T).next_bytes("lo")


def test_too_few_logits():
    with pytest.raises(BackendError, match="the model returned 261 logits, too few for the id 261"):
        ByteModel(lambda ids: [0.0] * 261, T).next_bytes("lo")
