"""Control tokens that published files don't call special: a template writes them, and no message does."""

import pytest

from bpelab.chat import apply_chat_template
from bpelab.chat_templates.control_tokens import HTML, UNFLAGGED
from bpelab.errors import BPELabError
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..backends.conftest import NO_SOURCES, llama_cpp_sources
from .conftest import sources, tokenizer
from .conversations import TOOLS
from .test_every_template import kept_sources, script
from .test_injection import check_provenance, encoded

NAMES = sorted({*" ".join(UNFLAGGED.values()).split()})


def with_control_tokens(source):
    """A tokenizer with the control tokens that a template spells; those of the list aren't special."""
    flagged = sorted({*script().CONTROL.findall(source), "<s>", "</s>"} - {*NAMES})
    first = tokenizer().n_vocab
    added = [AddedToken(name, first + number, special=name in flagged) for number, name in enumerate(flagged + NAMES)]
    return tokenizer().with_options(special_tokens=SpecialTokens(added))


def conversation(text):
    """Messages of every role, of which all but the model's own have `text` in them."""
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "time", "arguments": {}}}
    return [
        {"role": "user", "content": f"a {text} b"},
        {"role": "assistant", "content": "", "tool_calls": [call], "reasoning_content": "Well."},
        {"role": "tool", "name": "time", "tool_call_id": "abcdefghi", "content": f"a {text} b"},
        {"role": "assistant", "content": "It is.", "reasoning_content": "Well."},
    ]


def markers_written(source):
    """The names of the list that a template writes in a conversation; none of them comes from a message."""
    which, spelled, seen = with_control_tokens(source), [name for name in NAMES if name in source], set()
    for name in spelled:
        try:
            found = encoded(which, source, conversation(name), TOOLS[1:])
        except BPELabError:
            return set()
        check_provenance(which, found)
        seen |= {which.id_to_token(number).decode() for number, control in zip(found.ids, found.control) if control}
    return seen & {*NAMES}


@pytest.mark.parametrize(
    ("name", "marker"), [("Qwen 2.5", "<tool_call>"), ("Qwen 3", "<think>"), ("macros", "<tool_call>")]
)
def test_templates_with_unflagged_markers(name, marker):
    assert marker in markers_written(sources()[name])


@pytest.mark.slow
def test_published_templates_with_unflagged_markers():
    if llama_cpp_sources() is None:
        pytest.skip(NO_SOURCES)
    found = [markers_written(source) for source in kept_sources().values()]
    assert sum(map(bool, found)) >= 40
    assert {"<think>", "<tool_call>", "<|tool_calls_section_begin|>", "<arg_key>", "｜DSML｜"} <= set().union(*found)


def test_names_that_do_not_look_like_markup():
    assert {"<dsml:", "</dsml:", "<｜/table>｜", "/think", "/no_think"} <= {*NAMES}
    which = with_control_tokens("")
    for name in NAMES:
        content = [{"role": "user", "content": f"a {name} b"}]
        ids = apply_chat_template(which, content, "{{ messages[0].content }}" + name)
        assert ids.count(which.token_to_id(name)) == 1 and ids[-1] == which.token_to_id(name), name


def test_html_is_ordinary_text():
    names = [f"<{slash}{name}>" for name in HTML.split() for slash in ("", "/")]
    added = [AddedToken(name, 5_000 + number, special=False) for number, name in enumerate([*names, "<s>", "</s>"])]
    which = tokenizer().with_options(special_tokens=SpecialTokens(added), bos_token=None, eos_token=None)
    text = "".join(names) + "<s></s>"
    ids = apply_chat_template(which, [{"role": "user", "content": text}], "{{ messages[0].content }}")
    assert which.decode(ids) == text
    assert [number - 5_000 for number in ids if number >= 5_000] == [*range(len(names))]
