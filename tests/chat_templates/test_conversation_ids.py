"""A conversation's ids are only appended to, and are the template's own wherever the template only appends."""

import json
import random

import pytest

from bpelab import BPETokenizer
from bpelab.chat import Conversation, apply_chat_template
from bpelab.chat_templates.prefix_check import check_prefixes
from bpelab.chat_templates.template_order import writes_in_order
from bpelab.errors import ConversationError, TemplateError

from ..conftest import amount
from .conftest import sources, tokenizer
from .conversations import conversation, steps

NOT_PRESERVING = {"mistral", "Qwen 3", "Mistral 3", "Phi 3", "DeepSeek R1"}
IN_ORDER = {
    "llama3", "chatml", "alpaca", "gemma", "phi", "Llama 3", "Llama 3.1", "Mistral 1", "Gemma 2", "Phi 4", "generation",
}  # fmt: skip
ASK = {"role": "user", "content": "Is it?"}


def random_talk(rng):
    """Return messages of a system, users and assistants, in their order."""
    return conversation(rng, plain=True)


def replay(talk, messages):
    """Say the messages one by one, a system's with what follows, the assistant's encoded; yield the ids after each."""
    held = []
    for message in messages:
        if message["role"] == "assistant":
            prompt = talk.prompt()
            assert prompt[: len(talk.ids)] == talk.ids
            talk.add_generated(talk.tokenizer.encode(message["content"], add_special_tokens=False))
        elif message["role"] == "system":
            held = [message]
            continue
        else:
            talk.add(*held, message)
            held = []
        yield talk.ids


@pytest.mark.parametrize("name", sources())
def test_ids_are_appended_and_the_templates_own(name):
    rng, source = random.Random(name), sources()[name]
    compared = equal = 0
    for _ in range(amount(60, 3_000)):
        messages, talk, before = random_talk(rng), Conversation(tokenizer(), source), []
        try:
            for ids in replay(talk, messages):
                assert ids[: len(before)] == before, messages
                assert len(talk.authors) == len(talk.mask) == len(talk.logprobs) == len(ids)
                before = ids
            own = apply_chat_template(tokenizer(), messages, source)
        except (ConversationError, TemplateError):
            continue
        difference = talk.diverges()
        compared += 1
        equal += difference is None
        assert (difference is None) == (own[: len(talk)] == talk.ids), messages
    assert compared > 5
    assert equal > compared // 4 or name in {*NOT_PRESERVING, "generation"}  # which writes no prompt


@pytest.mark.parametrize("name", sources())
def test_verdicts(name):
    check = check_prefixes(tokenizer(), sources()[name])
    assert check.preserving == (name not in NOT_PRESERVING), check
    assert check.proved == writes_in_order(sources()[name]) == (name in IN_ORDER)
    if not check.preserving:
        place, shown = check.divergence.place, check.counterexample
        last = [both for number, *both in growing(sources()[name], shown) if number == len(shown) - 1]
        assert any(one[:place] == two[:place] and one[place:] != two[place : len(one)] for one, two in last)


def rendered(source, messages, **options):
    """A conversation's ids or text; None if the template refuses it."""
    try:
        return apply_chat_template(tokenizer(), messages, source, **options)
    except (ConversationError, TemplateError):
        return None


def growing(source, messages, **options):
    """Yield what a conversation is before each step and after it, where neither is refused."""
    for number, *both in steps(messages):
        before, after = (rendered(source, part, add_generation_prompt=prompt, **options) for part, prompt in both)
        if before is not None and after is not None:
            yield number, before, after


@pytest.mark.parametrize("name", sources())
def test_verdicts_agree_with_brute_force(name):
    """Of each conversation; and of each template: text changes in some conversation if it was said to."""
    rng, source = random.Random(name), sources()[name]
    changed = 0
    for _ in range(amount(30, 3_000)):
        messages = conversation(rng)
        check = check_prefixes(tokenizer(), source, conversations=[messages])
        numbers = [number for number, before, after in growing(source, messages) if after[: len(before)] != before]
        assert check.preserving == (not numbers), messages
        rewritten = [
            number for number, *both in growing(source, messages, tokenize=False) if not both[1].startswith(both[0])
        ]
        assert check.preserves_text == (not {*rewritten} & {*numbers}), messages
        shown = [number for number in rewritten if number in numbers] or numbers
        assert shown[:1] == ([] if check.preserving else [len(check.counterexample) - 1])
        assert not rewritten or name not in IN_ORDER, messages
        changed += bool(rewritten)
    assert bool(changed) == (name in NOT_PRESERVING), changed


@pytest.mark.parametrize(
    ("source", "in_order"),
    [
        ("{% for m in messages %}{{ m.content }}{% endfor %}", True),
        ("{% for m in messages[1:] %}{{ m.content }}{% endfor %}", True),
        ("{% for m in messages[:-1] %}{{ m.content }}{% endfor %}", False),
        ("{% for m in messages[-1:] %}{{ m.content }}{% endfor %}", False),
        ("{% for m in messages %}{{ m.content }}{% endfor %}!", False),
        ("{% for m in messages %}{{ messages[-1].content }}{% endfor %}", False),
        ("{% for m in messages %}{{ messages|length }}{% endfor %}", False),
        ("{% for m in messages %}{{ messages[0].content }}{% endfor %}", True),
        ("{% for m in messages %}{{ messages[1].content }}{% endfor %}", False),
        ("{% set messages = messages[1:] %}{{ messages[0].content }}{% for m in messages %}{% endfor %}", False),
        ("{% set rest = messages %}{% for m in rest %}{{ rest|length }}{% endfor %}", False),
        ("{% for m in messages %}{{ loop.revindex }}{% endfor %}", False),
        ("{% for m in messages %}{% for c in m.content %}{{ loop.last }}{% endfor %}{% endfor %}", True),
        ("{% for m in messages %}{{ loop.nextitem }}{% endfor %}", False),
        ("{% for m in messages %}{{ m.content }}{% else %}none{% endfor %}", False),
        ("{% set n = namespace(last=0) %}{% for m in messages %}{{ n.last }}{% set n.last = 1 %}{% endfor %}", True),
        ("{% macro f() %}{{ messages|length }}{% endmacro %}{% for m in messages %}{{ f() }}{% endfor %}", False),
        ("{{ strftime_now('%d') }}{% for m in messages %}{{ m.content }}{% endfor %}", False),
        ("{% for m in messages %}{% endfor %}{% if add_generation_prompt and x %}go{% endif %}", True),
        ("{% for m in messages %}{% endfor %}{% if not add_generation_prompt %}go{% endif %}", False),
        ("{% for m in messages %}{% endfor %}{% if add_generation_prompt %}a{% else %}b{% endif %}", False),
        ("{% for m in messages if m.role != 'system' %}{{ loop.index }}{{ m.content }}{% endfor %}", True),
        ("{% for m in messages if loop %}{{ m.content }}{% endfor %}", False),
        ("{{ messages[0].content }}", False),
    ],
)
def test_sources_that_write_in_order(source, in_order):
    assert writes_in_order(source) == in_order


def test_a_system_message_after_an_answer_that_moves_to_the_start():
    """As in DeepSeek's templates."""
    rest = "{% for m in messages if m.role != 'system' %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    source = "{% for m in messages if m.role == 'system' %}{{ m.content }}{% endfor %}" + rest
    check = check_prefixes(tokenizer(), source)
    assert not check.preserves_text and check.counterexample[-1] == {"role": "system", "content": "Be kind."}
    assert check.divergence.place == 0 and check.divergence.reason.startswith("other text is written")


def test_a_models_own_spelling_stays():
    t = tokenizer()
    talk = Conversation(t, "chatml")
    talk.add(ASK)
    prompt = talk.prompt()
    spelled = [t.token_to_id(letter) for letter in "hello"]
    assert spelled != t.encode("hello")
    talk.add_generated([*spelled, t.token_to_id("<|im_end|>")], logprobs=[-0.5] * 6)
    talk.add({"role": "user", "content": "And?"})
    assert talk.ids[len(prompt) : len(prompt) + 6] == [*spelled, t.token_to_id("<|im_end|>")]
    assert t.decode(talk.ids) == apply_chat_template(t, talk.messages, "chatml", tokenize=False)
    difference = talk.diverges()
    assert difference.place == len(prompt)
    assert "other tokens" in difference.reason
    assert [id_ for id_, mine in zip(talk.ids, talk.mask) if mine] == [*spelled, t.token_to_id("<|im_end|>")]
    assert [p for p in talk.logprobs if p is not None] == [-0.5] * 6
    assert {author for author, mine in zip(talk.authors, talk.mask) if not mine} == {"template", "user"}


def test_an_answer_that_merges_with_its_prompt():
    """The text only grows, and the ids don't: the line breaks of prompt and answer become one token."""
    t = BPETokenizer.train(
        "user\n\nassistant\n\n" * 3, 260, pattern=None, special_tokens=["<|im_start|>", "<|im_end|>"]
    )
    check = check_prefixes(t, "chatml")
    assert (check.preserving, check.preserves_text, check.proved) == (False, True, True)
    assert check.counterexample[-1] == {"role": "assistant", "content": "\nIt is."}
    assert str(check).startswith("prefix-preserving as text, but not as ids: message 2 changes id")
    talk = Conversation(t, "chatml")
    talk.add(ASK)
    talk.prompt()
    talk.add_generated(t.encode("\nIt is."))
    assert t.decode(talk.ids) == apply_chat_template(t, talk.messages, "chatml", tokenize=False)[: -len("<|im_end|>\n")]
    assert "the same text has other tokens" in talk.diverges().reason


def test_what_a_template_writes_around_an_answer_that_was_cut_off():
    """Also before one without any text: all that stands between the prompt and the next question is appended."""
    answer = "{% if m.role == 'assistant' %} ({{ m.content }}) {% else %}{{ m.content }}{% endif %}"
    source = "{% for m in messages %}" + answer + "<|im_end|>{% endfor %}{% if add_generation_prompt %} ({% endif %}"
    for content in ("", "Yes"):
        talk = Conversation(tokenizer(), source)
        talk.add(ASK)
        talk.prompt()
        talk.add_generated(tokenizer().encode(content))
        talk.add(ASK)
        assert tokenizer().decode(talk.ids) == f"Is it?<|im_end|> ({content}) <|im_end|>Is it?<|im_end|>"
    source = source.replace("%} (", "%} (<think></think>", 1)  # the prompt doesn't have it, and the answer does
    talk = Conversation(tokenizer(), source)
    talk.add(ASK)
    talk.prompt()
    talk.add_generated([])
    talk.add(ASK)
    assert tokenizer().decode(talk.ids) == "Is it?<|im_end|> (<think></think>) <|im_end|>Is it?<|im_end|>"


def test_thinking_stays_and_the_conversation_says_so_before():
    source = sources()["Qwen 3"]
    t = tokenizer()
    talk = Conversation(t, source)
    talk.add(ASK)
    talk.prompt()
    talk.add_generated(t.encode("<think>\nWell.\n</think>\n\nIt is."))
    before = talk.ids
    assert talk.diverges() is None
    assert "thinking is left out" in talk.diverges(ASK).reason
    talk.add(ASK)
    assert talk.ids[: len(before)] == before
    assert "Well." in t.decode(talk.ids)
    assert t.decode(talk.ids).endswith("It is.<|im_end|>\n<|im_start|>user\nIs it?<|im_end|>\n")


def test_authors_of_an_example():
    talk = Conversation(tokenizer(), "chatml")
    talk.add({"role": "system", "content": "Be brief."}, ASK, {"role": "assistant", "content": "Yes."})
    texts = {}
    for author, number in zip(talk.authors, talk.ids):
        texts[author] = texts.get(author, b"") + tokenizer().decode_bytes([number])
    assert texts["system"] == b"Be brief."
    assert texts["user"] == b"Is it?"
    assert texts["assistant"] == b"Yes."
    assert sum(talk.mask) == 0


def test_fork_and_rollback():
    talk = Conversation(tokenizer(), "chatml")
    talk.add(ASK)
    start = talk.ids
    other = talk.fork()
    talk.prompt()
    talk.add_generated(tokenizer().encode("No."))
    assert other.ids == start
    talk.rollback(1)
    assert (talk.ids, talk.messages) == (start, [ASK])
    talk.prompt()
    talk.rollback(1)
    assert talk.ids == start
    talk.add(ASK, ASK)
    with pytest.raises(ConversationError, match=r"no step ended with 2 messages; steps ended with \[0, 1, 3\]"):
        talk.rollback(2)


def test_json():
    t = tokenizer()
    talk = Conversation(t, "chatml")
    talk.add(ASK)
    talk.prompt()
    talk.add_generated(t.encode("No."), logprobs=[-1.0] * len(t.encode("No.")))
    copy = Conversation(t, "chatml")
    copy.load_json(talk.to_json())
    assert copy.record == talk.record
    copy.add(ASK)
    talk.add(ASK)
    assert copy.ids == talk.ids


@pytest.mark.parametrize(
    "change",
    [
        {"ids": "x"}, {"ids": [1]}, {"ids": [10**9]}, {"steps": []}, {"steps": [[0, 0, "", False], [5, 1, "", True]]},
        {"messages": [3]}, {"logprobs": ["a"]}, {"more": 1}, {"steps": 7}, {"prompted": True, "messages": None},
    ],
)  # fmt: skip
def test_what_is_no_conversation(change):
    talk = Conversation(tokenizer(), "chatml")
    talk.add(ASK)
    broken = json.dumps({**json.loads(talk.to_json()), **change})
    with pytest.raises(ConversationError, match="conversation"):
        talk.load_json(broken)
    with pytest.raises(ConversationError, match="this isn't a conversation's JSON"):
        talk.load_json("[" * 100_000)


def test_truncate_drops_whole_turns_and_keeps_answers_ids():
    t = tokenizer()
    talk = Conversation(t, "chatml")
    talk.add({"role": "system", "content": "Be brief."})
    spelled = [t.token_to_id(letter) for letter in "hello"]
    for _ in range(4):
        talk.add(ASK)
        talk.prompt()
        talk.add_generated(spelled, logprobs=[-1.0] * 5)
    assert talk.truncate(len(talk)) is None
    whole = talk.ids
    limit = len(talk) - 3
    place = talk.truncate(limit)
    assert len(talk) <= limit
    assert [message["role"] for message in talk.messages] == ["system"] + ["user", "assistant"] * 3
    assert talk.ids[:place] == whole[:place]
    assert place == len(talk) or talk.ids[place] != whole[place]
    assert [id_ for id_, mine in zip(talk.ids, talk.mask) if mine] == spelled * 3
    assert talk.logprobs.count(-1.0) == 15
    with pytest.raises(ConversationError, match="the last turn and the system messages take"):
        talk.truncate(5)


def test_steps_that_can_not_be_taken():
    talk = Conversation(tokenizer(), "chatml")
    with pytest.raises(ConversationError, match="messages is empty"):
        talk.prompt()
    talk.add(ASK)
    with pytest.raises(ConversationError, match=r"call prompt\(\) first"):
        talk.add_generated([1])
    prompt = talk.prompt()
    assert talk.prompt() == prompt
    with pytest.raises(ConversationError, match="began an answer"):
        talk.add(ASK)
    with pytest.raises(ConversationError, match="began an answer"):
        talk.truncate(9)
    with pytest.raises(ConversationError, match="2 ids and 1 log-probabilities"):
        talk.add_generated([1, 2], logprobs=[-1.0])
    with pytest.raises(TypeError, match="enable_thinkin"):
        Conversation(tokenizer(), "chatml", enable_thinkin=True)


def test_a_template_that_changes_what_it_wrote():
    source = "{% for m in messages %}{{ m.content }}{{ '.' if loop.last else ',' }}{% endfor %}"
    talk = Conversation(tokenizer(), source)
    talk.add(ASK)
    with pytest.raises(ConversationError, match=r"wrote '\.' after messages\[0\], and writes ',' now"):
        talk.add(ASK)


def test_a_message_that_is_left_out():
    talk = Conversation(tokenizer(), "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}")
    with pytest.raises(ConversationError, match=r"leaves out messages\[0\]"):
        talk.add({"role": "system", "content": "Be brief."})
