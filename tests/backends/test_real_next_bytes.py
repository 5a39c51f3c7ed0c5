"""The next byte on models that others trained: its probability is a sum over encodings, all of them tried.

Nothing here uses covers: every token of the vocabulary is tried after every beginning, and what is found is encoded
again. The prompts end inside a word, where each beginning of an encoding is the encoding of its own text. Only bytes of
ASCII are compared: too many characters begin with each of the others to try them all.
"""

import os
from functools import cache
from itertools import product

import numpy as np
import pytest

from bpelab.chat import ChatSession
from bpelab.prefix import ByteModel
from bpelab.prefix.model_calls import log_probabilities
from bpelab.prefix.served import token_texts

from .conftest import need
from .real_models import gemma, qwen

NEXT = {"toke": "n"}
if os.environ.get("BPELAB_REAL") == "1":
    NEXT["The capital of Fra"] = "n"  # half a minute more for each model
CONTINUATIONS = (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF)


@pytest.fixture(scope="module", params=[gemma, qwen], ids=lambda model: model.__name__)
def session(request):
    need("llama_cpp")
    return ChatSession(request.param(), backend="llama_cpp", n_ctx=64)


def texts_from(spelled):
    """The text of these bytes, or some texts that begin with them, if they end inside a character."""
    for size in range(4):
        wholes = [spelled + bytes(tail) for tail in product(CONTINUATIONS, repeat=size)]
        if found := [text for whole in wholes if (text := whole.decode(errors="ignore")).encode() == whole]:
            return found
    return []


def encodings_beyond(tokenizer, data):
    """The sequences of tokens that begin an encoding, and whose last one is the first to go beyond `data`."""
    texts = token_texts(tokenizer).texts

    def begin_one(rows):
        tried = [(ids, text) for ids in rows for text in texts_from(b"".join(map(texts.__getitem__, ids)))]
        encoded = tokenizer.pipeline.lists([text for _, text in tried])
        return [*dict.fromkeys(ids for (ids, _), again in zip(tried, encoded) if [*ids] == again[: len(ids)])]

    waiting, found = [()], []
    for ids in waiting:
        rest = data[sum(len(texts[token]) for token in ids) :]
        waiting += begin_one((*ids, token) for token, text in texts.items() if text and rest.startswith(text))
        found += begin_one((*ids, token) for token, text in texts.items() if text.startswith(rest) and text != rest)
    return found


@pytest.mark.parametrize("prompt", NEXT)
def test_a_byte_is_as_likely_as_the_encodings_that_go_on_with_it(session, prompt):
    tokenizer, data, before = session.tokenizer, prompt.encode(), session.byte_model().before
    texts = token_texts(tokenizer).texts

    @cache
    def logits(ids):
        return session.backend.next_logits([*before, *ids])

    @cache
    def after(ids):
        return log_probabilities(logits(ids))

    def likely(ids):
        return np.exp(sum(after(ids[:at])[token] for at, token in enumerate(ids)))

    weights = dict.fromkeys(range(256), 0.0)
    for ids in encodings_beyond(tokenizer, data):
        weights[b"".join(texts[token] for token in ids)[len(data)]] += likely(ids)
    model = ByteModel(lambda ids: logits(tuple(ids[len(before) :])), tokenizer, before=before, stop=session.stop)
    found = model.next_bytes(prompt)
    assert found.missing == 0 and sum(found.probabilities.values()) + found.end == pytest.approx(1)
    scale = sum(found.probabilities[byte] for byte in range(128)) / sum(weights[byte] for byte in range(128))
    for byte in range(128):
        assert found.probabilities[byte] == pytest.approx(scale * weights[byte], abs=1e-6), bytes([byte])
    whole = tuple(tokenizer.encode(prompt, add_special_tokens=False))
    assert found.end == pytest.approx(scale * sum(likely((*whole, token)) for token in session.stop), abs=1e-6)
    assert chr(max(weights, key=weights.get)) == NEXT[prompt]
    live = session.next_bytes(prompt)  # evaluated in another order, so rounded otherwise
    assert all(abs(live.probabilities[byte] - share) < 0.02 for byte, share in found.probabilities.items())
