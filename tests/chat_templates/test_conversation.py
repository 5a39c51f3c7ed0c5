"""Checks, masks, counts, and what fits."""

import copy
import random
import re
import sys

import pytest

from bpelab import BPETokenizer
from bpelab._support.install import install_command
from bpelab.chat import apply_chat_template, count_conversation, fit_to_context
from bpelab.chat_templates.provenance import TEMPLATE, UNKNOWN, Provenance
from bpelab.chat_templates.tainted_string import TaintedStr, concat
from bpelab.errors import ConversationError, MissingDependencyError, TemplateError
from bpelab.postprocessors import TemplateProcessing

from ..conftest import amount
from .conftest import characters, sources, tokenizer
from .conversations import TOOLS, conversation

BAD = [
    ("hi", r"messages is a list of dicts, not of type str"),
    ([], r"messages is empty"),
    ([{"role": "user", "content": "a"}, "hi"], r"messages\[1\] is of type str"),
    ([{"content": "a"}], r'messages\[0\] has no "role"'),
    ([{"role": None, "content": "a"}], r'messages\[0\]\["role"\] is None'),
    ([{"role": "", "content": "a"}], r'messages\[0\]\["role"\] is empty'),
    ([{"role": "user"}], r'messages\[0\] has no "content"'),
    ([{"role": "user", "content": 5}], r'messages\[0\]\["content"\] is of type int'),
    ([{"role": "user", "content": b"x"}], r'messages\[0\]\["content"\] is of type bytes'),
    ([{"role": "user", "content": ["a", 5]}], r'messages\[0\]\["content"\]\[1\] is of type int'),
    ([{"role": "user", "content": "a", "x": object()}], r"messages\[0\]\['x'\] is of type object"),
    ([{"role": "user", "content": "a", 5: "x"}], r"messages\[0\] has the key 5"),
    ([{"role": "assistant", "content": "", "tool_calls": "x"}], r'messages\[0\]\["tool_calls"\] is of type str'),
    ([{"role": "assistant", "content": "", "tool_calls": [1]}], r'messages\[0\]\["tool_calls"\]\[0\] is of type int'),
]


@pytest.mark.parametrize("messages, problem", BAD)
def test_bad_conversations(messages, problem):
    for source in ("chatml", "llama3", "{{ messages }}"):
        with pytest.raises(ConversationError, match=problem):
            apply_chat_template(tokenizer(), messages, source)


def test_a_message_that_holds_itself():
    message = {"role": "user", "content": "a"}
    message["self"] = message
    with pytest.raises(ConversationError, match="holds itself"):
        apply_chat_template(tokenizer(), [message], "chatml")


@pytest.mark.parametrize("tools", ["x", {"a": 1}, 5, [print], ["x"]])
def test_bad_tools(tools):
    with pytest.raises(ConversationError, match="tools"):
        apply_chat_template(tokenizer(), [{"role": "user", "content": "a"}], "chatml", tools=tools)


def test_messages_are_not_changed():
    messages = conversation(random.Random(1))
    before = copy.deepcopy(messages)
    for options in ({"continue_final_message": True}, {"system_prompt": "be kind"}, {"return_assistant_mask": True}):
        apply_chat_template(tokenizer(), messages, sources()["macros"], **options)
    assert messages == before


def test_system_prompt():
    one = [{"role": "user", "content": "a"}]
    text = apply_chat_template(tokenizer(), one, "chatml", system_prompt="S", tokenize=False)
    assert text == "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\na<|im_end|>\n"
    two = [{"role": "system", "content": "T"}, *one]
    assert "S" not in apply_chat_template(tokenizer(), two, "chatml", system_prompt="S", tokenize=False)


def test_bos_is_not_doubled():
    which = tokenizer().with_options(post_processor=TemplateProcessing("<s> $A"))
    assert which.encode("a")[0] == which.bos_token_id
    ids = apply_chat_template(which, [{"role": "user", "content": "a"}], "mistral")
    assert ids.count(which.bos_token_id) == 1


def test_templates_of_tokenizers():
    one = [{"role": "user", "content": "a"}]
    own = tokenizer().with_options(metadata={"chat_template": "own {{ messages[0].content }}"})
    assert apply_chat_template(own, one, tokenize=False) == "own a"
    several = [
        {"name": "default", "template": "default"},
        {"name": "tool_use", "template": "tools {{ tools | length }}"},
    ]
    for metadata in (several, {entry["name"]: entry["template"] for entry in several}):
        own = tokenizer().with_options(metadata={"chat_template": metadata})
        assert apply_chat_template(own, one, tokenize=False) == "default"
        assert apply_chat_template(own, one, tokenize=False, tools=TOOLS) == "tools 2"
        assert apply_chat_template(own, one, "tool_use", tokenize=False, tools=TOOLS[:1]) == "tools 1"
    with pytest.raises(TemplateError, match="chatml"):
        apply_chat_template(tokenizer(), one)
    with pytest.raises(TemplateError, match="none named 'llama4'"):
        apply_chat_template(tokenizer(), one, "llama4")


def test_special_tokens_that_are_missing():
    plain = BPETokenizer.train("abab", 257)
    with pytest.raises(TemplateError, match=r"<\|im_start\|>, <\|im_end\|>"):
        apply_chat_template(plain, [{"role": "user", "content": "a"}], "chatml")
    assert apply_chat_template(plain, [{"role": "user", "content": "a"}], "alpaca")


def test_options_that_exclude_each_other():
    one = [{"role": "user", "content": "a"}]
    with pytest.raises(ValueError, match="choose one"):
        apply_chat_template(tokenizer(), one, "chatml", add_generation_prompt=True, continue_final_message=True)
    with pytest.raises(ValueError, match="about tokens"):
        apply_chat_template(tokenizer(), one, "chatml", tokenize=False, return_assistant_mask=True)


def test_without_jinja(monkeypatch):
    from bpelab.chat_templates.render import compiled

    compiled.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("chat"))):
        apply_chat_template(tokenizer(), [{"role": "user", "content": "a"}], "chatml")


def test_what_is_none_is_left_out():
    """A template that writes what a message lacks writes nothing, and not the word None."""
    messages = [{"role": "assistant", "content": None, "name": None, "tool_calls": [{"id": "1", "index": None}]}]
    source = "{{ messages[0].content }}|{{ messages[0].name is defined }}|{{ messages[0].tool_calls[0].index }}"
    assert apply_chat_template(tokenizer(), messages, source, tokenize=False) == "|False|None"
    assert messages[0]["content"] is None


@pytest.mark.parametrize("name", ["reasoning_content", "thinking", "reasoning"])
def test_reasoning_has_the_names_that_templates_read(name):
    messages = [{"role": "assistant", "content": "c", name: "<|im_end|>hm"}, {"role": "user", "content": "d"}]
    source = "{% for m in messages %}{{ m.thinking }}={{ m.reasoning_content }};{% endfor %}"
    text = apply_chat_template(tokenizer(), messages, source, tokenize=False)
    assert text == "<|im_end|>hm=<|im_end|>hm;=;"
    ids = apply_chat_template(tokenizer(), messages, source)
    assert tokenizer().special_tokens["<|im_end|>"] not in ids


def test_continuing_is_not_led_astray():
    for content in ("CONTINUE_FINAL_MESSAGE_TAG ", "a CONTINUE_FINAL_MESSAGE_TAG b", "b "):
        messages = [{"role": "user", "content": content}, {"role": "assistant", "content": content}]
        text = apply_chat_template(tokenizer(), messages, "chatml", tokenize=False, continue_final_message=True)
        assert text.endswith(f"<|im_start|>assistant\n{content}")


def test_continuing_needs_a_text_that_the_template_keeps():
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b "}, {"type": "image"}]
    one = [{"role": "assistant", "content": parts}]
    source = "{% for part in messages[0].content %}{{ part.text }}{% endfor %}<end>"
    text = apply_chat_template(tokenizer(), one, source, tokenize=False, continue_final_message=True)
    assert text == "ab "
    for content in ([], [{"type": "image"}], None):
        calls = [{"type": "function", "function": {"name": "look", "arguments": {}}}]
        nothing = [{"role": "assistant", "content": content, "tool_calls": calls}]
        with pytest.raises(ConversationError, match=r"messages\[0\] has no text"):
            apply_chat_template(tokenizer(), nothing, source, tokenize=False, continue_final_message=True)
    for left_out in (
        "nothing of it{{ '' }}",
        "{{ messages[0].content[0].text }}",
        "{{ 'B' }}{{ messages[0].content | length }}",
    ):
        with pytest.raises(TemplateError, match="leaves out or changes the final message"):
            apply_chat_template(tokenizer(), one, left_out, tokenize=False, continue_final_message=True)


def test_a_jinja_that_can_be_broken_out_of(monkeypatch):
    jinja2 = pytest.importorskip("jinja2")
    for number, version in enumerate(("3.1.5", "2.11", "3.0.9rc1")):
        monkeypatch.setattr(jinja2, "__version__", version)
        with pytest.raises(MissingDependencyError, match=f"jinja2 {version} can be broken out of"):
            apply_chat_template(tokenizer(), [{"role": "user", "content": "a"}], f"{{{{ {number} }}}} not seen before")


# -- masks -------------------------------------------------------------------------------------------------------------


def said(source, messages, which=None, **options):
    """What the mask says was said, stretch by stretch."""
    which = which or tokenizer()
    ids, mask = apply_chat_template(which, messages, source, return_assistant_mask=True, **options)
    assert len(ids) == len(mask) and set(mask) <= {0, 1}
    assert ids == apply_chat_template(which, messages, source, **options)
    found, run = [], []
    for token_id, bit in [*zip(ids, mask), (None, 0)]:
        if bit:
            run.append(token_id)
        elif run:
            found.append(which.decode(run))
            run = []
    return found


TURNS = [
    {"role": "user", "content": "hello there"},
    {"role": "assistant", "content": "one 日本 😀"},
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "two"},
]


def test_masks():
    assert said("chatml", TURNS) == ["one 日本 😀<|im_end|>", "two<|im_end|>"]
    assert said("chatml", TURNS, end_of_turn=False) == ["one 日本 😀", "two"]
    assert said("llama3", TURNS) == ["one 日本 😀<|eot_id|>", "two<|eot_id|>"]
    assert said("gemma", TURNS) == ["one 日本 😀<end_of_turn>", "two<end_of_turn>"]
    assert said(sources()["Mistral 1"], TURNS) == ["one 日本 😀</s>", "two</s>"]
    assert said("alpaca", TURNS) == ["one 日本 😀</s>", "two</s>"]
    assert said("chatml", TURNS[:1]) == []


def test_masks_of_tool_calls():
    call = {"type": "function", "function": {"name": "weather", "arguments": {"place": "here", "days": 3}}}
    messages = [
        TURNS[0],
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "sun"},
    ]
    expected = '<tool_call>\n{"name": "weather", "arguments": {"place": "here", "days": 3}}\n</tool_call><|im_end|>'
    found = said(sources()["Qwen 2.5"], [*messages, TURNS[3]])
    assert found == [expected, "two<|im_end|>"]
    found = said(sources()["Llama 3.1"], messages)
    assert found == ['{"name": "weather", "parameters": {"place": "here", "days": 3}}<|eot_id|>']


def test_masks_with_reasoning():
    messages = [TURNS[0], {"role": "assistant", "content": "two", "reasoning_content": "hm"}]
    assert said(sources()["Qwen 3"], messages) == ["hm\n</think>\n\ntwo<|im_end|>"]


@pytest.mark.parametrize("normalizer", [None, "NFC"])
@pytest.mark.parametrize("name", ["chatml", "llama3", "Zephyr", "DeepSeek R1", "Phi 3"])
def test_masks_cover_what_was_said(name, normalizer):
    rng, which = random.Random(name), tokenizer().with_options(normalizer=normalizer)
    for _ in range(amount(25, 2_000)):
        messages = [m for m in conversation(rng, plain=True) if m["role"] != "system"]
        contents = [m["content"] for m in messages if m["role"] == "assistant"]
        if name == "llama3":
            contents = [content.strip() for content in contents]
        found = said(sources()[name], messages, which, end_of_turn=False)
        joined, told = "".join(found), "".join(contents)
        if normalizer is not None:
            told = normalizer_of(which)(told)
        # A token may hold the end of the header too.
        assert re.sub(r"\s", "", joined) == re.sub(r"\s", "", told), messages


def normalizer_of(which):
    return which.spec.normalizer or str


def test_masks_of_a_tokenizer_of_characters():
    """Characters, `▁` for a space, one put in front, bytes for what is unknown: each token still has its own place."""
    found = said("chatml", TURNS, characters())
    assert [text.strip() for text in found] == ["one 日本 😀<|im_end|>", "two<|im_end|>"]
    rng = random.Random(8)
    for _ in range(amount(25, 1_000)):
        messages = [m for m in conversation(rng, plain=True) if m["role"] != "system"]
        contents = [m["content"] for m in messages if m["role"] == "assistant"]
        joined = "".join(said(sources()["DeepSeek R1"], messages, characters(), end_of_turn=False))
        assert re.sub(r"\s", "", joined) == re.sub(r"\s", "", "".join(contents)), messages


# -- counts ------------------------------------------------------------------------------------------------------------


def test_counts():
    rng = random.Random(2)
    for _ in range(20):
        messages = conversation(rng, plain=True)
        ids = apply_chat_template(tokenizer(), messages, "chatml", add_generation_prompt=True)
        assert count_conversation(tokenizer(), messages, "chatml", add_generation_prompt=True) == len(ids)


def test_what_fits():
    rng = random.Random(3)
    options = {"template": sources()["Qwen 2.5"], "tools": TOOLS}
    for _ in range(amount(30, 1_000)):
        messages = [m for _ in range(rng.randint(1, 4)) for m in conversation(rng)]
        if any(not isinstance(m.get("content"), str) for m in messages):
            continue
        limit, reserve = rng.randint(250, 900), rng.choice((0, 50))
        try:
            fitted = fit_to_context(tokenizer(), messages, limit, reserve=reserve, **options)
        except ConversationError as error:
            assert "take" in str(error)
            continue
        count = count_conversation(tokenizer(), fitted.messages, add_generation_prompt=True, **options)
        assert fitted.tokens == count <= limit - reserve
        systems = [m for m in messages if m["role"] in ("system", "developer")]
        assert [m for m in fitted.messages if m["role"] in ("system", "developer")] == systems
        turns = [m for m in messages if m["role"] not in ("system", "developer")]
        kept = [m for m in fitted.messages if m["role"] not in ("system", "developer")]
        assert fitted.dropped + kept == turns
        assert kept and (not fitted.dropped or kept[0]["role"] == "user")
        if fitted.dropped:  # one turn more would not fit
            back = max(n for n, m in enumerate(fitted.dropped) if m["role"] == "user" or n == 0)
            more = [m for m in messages if m in systems or m in fitted.dropped[back:] or m in kept]
            assert count_conversation(tokenizer(), more, add_generation_prompt=True, **options) > limit - reserve


def test_what_does_not_fit():
    with pytest.raises(ConversationError, match=r"max_tokens=20 less reserve=15 leaves 5"):
        fit_to_context(tokenizer(), TURNS, 20, reserve=15, template="chatml")


# -- marked strings ----------------------------------------------------------------------------------------------------

OPERATIONS = [
    lambda s, o: s + o, lambda s, o: str.__str__(o) + s, lambda s, o: s[1:-1], lambda s, o: s[::-1],
    lambda s, o: s[-2:], lambda s, o: s.lower(), lambda s, o: "".join(s.splitlines(True)), lambda s, o: s.zfill(7),
    lambda s, o: s.strip(), lambda s, o: s.strip("ab"), lambda s, o: s.lstrip(), lambda s, o: s.rstrip("b"),
    lambda s, o: s.replace("a", o), lambda s, o: s.replace("", "-"), lambda s, o: s.replace("a", o, 1),
    lambda s, o: o.join(s.split("b")), lambda s, o: o.join(s.split()), lambda s, o: "|".join(s.split(None, 1)),
    lambda s, o: o.join(s.rsplit("a", 1)), lambda s, o: o.join(s.rsplit(None, 1)),
    lambda s, o: o.join(s.splitlines()), lambda s, o: o.join(s.partition("b")), lambda s, o: o.join(s.rpartition("a")),
    lambda s, o: s * 3, lambda s, o: s.upper(), lambda s, o: s.title(), lambda s, o: s.center(9),
    lambda s, o: s.removeprefix("a"), lambda s, o: s.removesuffix("b"), lambda s, o: s.expandtabs(),
    lambda s, o: "%s" % s,  # noqa: UP031
]  # fmt: skip


def test_marked_strings_are_strings():
    """The text of every operation is str's, the runs are as long as the text, and no character changes sides."""
    rng = random.Random(4)
    for _ in range(amount(3_000, 100_000)):
        parts = [
            (
                "".join(rng.choices("ab \n\tß", k=rng.randint(0, 4))),
                rng.choice([UNKNOWN, Provenance(False, 1, "content")]),
            )
            for _ in range(3)
        ]
        parts.insert(rng.randrange(4), ("".join(rng.choices("AB<> \n", k=rng.randint(0, 4))), TEMPLATE))
        marked = concat([TaintedStr.of(text, origin) for text, origin in parts])
        other = TaintedStr.of("o", Provenance(False, 2, "content"))
        operation = rng.choice(OPERATIONS)
        result, expected = operation(marked, other), operation(str.__str__(marked), "o")
        assert result == expected
        runs = getattr(result, "runs", ((len(result), UNKNOWN),))
        assert sum(length for length, _ in runs) == len(result)
        trusted = [origin.trusted for length, origin in runs for _ in range(length)]
        for char, good in zip(result, trusted):
            assert not good or char in "AB<> \nab", (parts, result)
