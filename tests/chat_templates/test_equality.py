"""Texts, ids and masks are those of transformers, on templates as models come with them."""

import copy
import random

import pytest

from bpelab.chat import NAMED, apply_chat_template
from bpelab.errors import ConversationError, TemplateError

from ..conftest import amount
from .conftest import characters, sources, tokenizer
from .conversations import TOOLS, as_newest_hands_on, conversation
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
            want = theirs.apply_chat_template(
                as_newest_hands_on(messages), chat_template=source, tools=tools, tokenize=False, **options
            )
        except Exception:
            want = None
        if name in NAMED and any(m.get("tool_calls") or isinstance(m["content"], list) for m in messages):
            want = None  # Jinja alone writes these without the calls, or as Python prints a list; here they are refused
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


@pytest.mark.parametrize("name", NAMED)
def test_named_templates_write_the_text_of_parts_and_nothing_for_none(name):
    parts = [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]
    two = [{"role": "user", "content": parts}, {"role": "assistant", "content": None}]
    one = [{"role": "user", "content": "a b"}, {"role": "assistant", "content": ""}]
    written, expected = (apply_chat_template(tokenizer(), messages, name, tokenize=False) for messages in (two, one))
    assert written == expected
    assert (two[0]["content"], two[1]["content"]) == (parts, None)


@pytest.mark.parametrize("name", NAMED)
def test_named_templates_refuse_by_name_what_they_have_no_words_for(name):
    talk = [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}]
    with pytest.raises(TemplateError, match=rf"messages\[1\] has tool calls, which {name} has no form"):
        apply_chat_template(tokenizer(), talk, name, tokenize=False)
    with pytest.raises(TemplateError, match=rf"\[0\]\[\"content\"\]\[1\] is of the type 'image', which {name} can't"):
        talk[0]["content"] = ["q", {"type": "image"}]
        apply_chat_template(tokenizer(), talk[:1], name, tokenize=False)


def test_every_named_template_says_what_it_needs():
    for template in NAMED.values():
        assert template.after
        assert set(template.stop) <= set(template.tokens)
        assert all(token in template.source for token in template.tokens if token != "<|user|>" and "<|" not in token)
