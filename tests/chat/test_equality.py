"""Texts, ids and masks are those of transformers, on templates as models come with them."""

import copy
import random

import pytest

from bpelab.chat import NAMED, apply_chat_template
from bpelab.errors import ConversationError, TemplateError

from ..conftest import amount
from .conftest import characters, sources, tokenizer
from .conversations import TOOLS, conversation
from .templates import GENERATION


def outcome(work):
    """What `work` gives, or None if it fails in a way that either library may."""
    try:
        return work()
    except (ConversationError, TemplateError):
        return None


@pytest.mark.parametrize("name", sources())
def test_texts(name, theirs):
    rng, source = random.Random(name), sources()[name]
    rendered = 0
    for _ in range(amount(40, 3_000)):
        messages = conversation(rng, plain=rng.random() < 0.5)
        before = copy.deepcopy(messages)
        tools = rng.choice([None, TOOLS, TOOLS[:1]])
        options = {"add_generation_prompt": True} if rng.random() < 0.5 else {}
        if not options and messages[-1]["content"] and rng.random() < 0.5:
            options = {"continue_final_message": True}
        try:
            want = theirs.apply_chat_template(messages, chat_template=source, tools=tools, tokenize=False, **options)
        except Exception:
            want = None
        got = outcome(
            lambda: apply_chat_template(tokenizer(), messages, source, tools=tools, tokenize=False, **options)  # noqa: B023
        )
        assert got == want, messages
        assert messages == before
        rendered += want is not None
    assert rendered > 5


@pytest.mark.parametrize("name", sources())
def test_ids_of_harmless_conversations(name, theirs):
    rng, source = random.Random(name), sources()[name]
    for _ in range(amount(15, 1_000)):
        messages = conversation(rng, plain=True)
        got = outcome(lambda: apply_chat_template(tokenizer(), messages, source, add_generation_prompt=True))  # noqa: B023
        if got is not None:
            want = theirs.apply_chat_template(messages, chat_template=source, add_generation_prompt=True)
            assert got == want["input_ids"], messages


def test_ids_of_a_tokenizer_of_characters(tmp_path):
    transformers = pytest.importorskip("transformers")
    which = characters()
    which.save(tmp_path)
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path)
    rng = random.Random(9)
    for _ in range(amount(60, 2_000)):
        messages, source = conversation(rng, plain=True), rng.choice(list(sources().values()))
        got = outcome(lambda: apply_chat_template(which, messages, source))  # noqa: B023
        if got is not None:
            assert got == theirs.apply_chat_template(messages, chat_template=source)["input_ids"], messages


def test_masks_of_generation_blocks(theirs):
    rng = random.Random(5)
    for _ in range(amount(40, 3_000)):
        messages = conversation(rng, plain=True)
        ids, mask = apply_chat_template(tokenizer(), messages, GENERATION, return_assistant_mask=True)
        want = theirs.apply_chat_template(
            messages, chat_template=GENERATION, return_assistant_tokens_mask=True, return_dict=True
        )
        assert (ids, mask) == (want["input_ids"], want["assistant_masks"]), messages


PAIRS = {"llama3": "Llama 3", "gemma": "Gemma 2", "phi": "Phi 4", "mistral": "Mistral 3"}


@pytest.mark.parametrize("name", PAIRS)
def test_named_templates_write_what_their_models_do(name):
    rng = random.Random(name)
    compared = 0
    for _ in range(amount(80, 2_000)):
        messages = conversation(rng, plain=True)
        ours, real = (
            outcome(lambda: apply_chat_template(tokenizer(), messages, source, tokenize=False))  # noqa: B023
            for source in (name, sources()[PAIRS[name]])
        )
        if name == "llama3" and real is not None:
            real = real.replace("<s>", "<|begin_of_text|>", 1)
        assert ours == real, messages
        compared += ours is not None
    assert compared > 20


def test_chatml():
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
    text = apply_chat_template(tokenizer(), messages, "chatml", tokenize=False, system_prompt="be kind")
    assert text == "".join(
        f"<|im_start|>{role}\n{content}<|im_end|>\n"
        for role, content in [("system", "be kind"), ("user", "hi"), ("assistant", "yo")]
    )


def test_alpaca():
    text = apply_chat_template(
        tokenizer(), [{"role": "user", "content": "hi"}], "alpaca", tokenize=False, add_generation_prompt=True
    )
    assert text == (
        "Below is an instruction that describes a task. Write a response that appropriately completes the request."
        "\n\n### Instruction:\nhi\n\n### Response:\n"
    )


def test_every_named_template_says_what_it_needs():
    for template in NAMED.values():
        assert template.after
        assert set(template.stop) <= set(template.tokens)
        assert all(token in template.source for token in template.tokens if token != "<|user|>" and "<|" not in token)
