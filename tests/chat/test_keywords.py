"""Keywords of chat calls: settings and variables that the template reads are taken, anything else is an error."""

import pytest

from bpelab.chat.sampling import Sampling
from bpelab.chat.session import ChatSession
from bpelab.chat_templates.apply import apply_chat_template, count_conversation
from bpelab.chat_templates.fit_to_context import fit_to_context
from bpelab.chat_templates.template_variables import variables_of

from ..chat_templates.conftest import sources
from .scripted import Scripted
from .tiny import tiny_tokenizer

SAID = [{"role": "user", "content": "hi"}]
THINKING = "{% if enable_thinking is defined %}[{{ enable_thinking }}]{% endif %}{{ messages[0].content }}"
DATED = "{% if not date %}{% set date = 'today' %}{% endif %}{{ date }}{{ messages[0].content }}"


def session(answer="Hello.", **options):
    return ChatSession(backend=Scripted(answer), tokenizer=tiny_tokenizer(), **options)


def text(template, **options):
    return apply_chat_template(tiny_tokenizer(), SAID, template, tokenize=False, **options)


def test_what_a_template_reads_may_be_a_keyword():
    assert text(THINKING) == "hi"
    assert text(THINKING, enable_thinking=False) == text(THINKING, template_variables={"enable_thinking": False})
    assert text(THINKING, enable_thinking=False) == "[False]hi"
    assert text(DATED, date="now") == "nowhi"  # it has a default of its own
    assert text("chatml", tools=None, documents=None) == text("chatml")


def test_template_variables_may_be_more_than_is_read():
    assert text(THINKING, template_variables={"date": "now"}) == "hi"
    assert text(DATED, template_variables={"other": 1}, date="now") == "nowhi"
    with pytest.raises(TypeError, match="'date' is given twice"):
        text(DATED, template_variables={"date": "a"}, date="b")
    with pytest.raises(TypeError, match="must be a dict of names and values, not list"):
        text(DATED, template_variables=["date"])


@pytest.mark.parametrize(
    "keyword, advice",
    [
        ("add_generation_promt", "did you mean add_generation_prompt?"),
        ("enable_thinkin", "did you mean enable_thinking?"),
        ("return_tensors", "use numpy.array or torch.tensor on the ids"),
        ("return_assistant_tokens_mask", "did you mean return_assistant_mask?"),
        ("chat_template", "did you mean template?"),
        ("qqq", "template_variables={...} passes it anyway"),
        ("raise_exception", "template_variables"),  # the environment's, and no variable
    ],
)
def test_what_nobody_reads_is_an_error(keyword, advice):
    calls = [
        lambda: text(THINKING, **{keyword: 1}),
        lambda: tiny_tokenizer().apply_chat_template(SAID, THINKING, **{keyword: 1}),
        lambda: count_conversation(tiny_tokenizer(), SAID, THINKING, **{keyword: 1}),
        lambda: fit_to_context(tiny_tokenizer(), SAID, 99, template=THINKING, **{keyword: 1}),
    ]
    for call in calls:
        with pytest.raises(TypeError) as caught:
            call()
        assert repr(keyword) in str(caught.value) and advice in str(caught.value)


def test_a_count_is_of_tokens():
    with pytest.raises(TypeError, match="tokenize"):
        count_conversation(tiny_tokenizer(), SAID, "chatml", tokenize=False)


def test_settings_of_a_session_are_keywords():
    given = {"temperature": 0.7, "top_p": 0.9, "top_k": 3, "min_p": 0.1, "repetition_penalty": 1.1, "seed": 5}
    assert session(**given).sampling == Sampling(**given)
    assert session(sampling=Sampling(0.5, seed=4), top_p=0.9).sampling == Sampling(0.5, top_p=0.9, seed=4)
    assert session(max_new_tokens=3).max_new_tokens == 3
    with pytest.raises(ValueError, match="temperature must be a number"):
        session(temperature=-1)


def test_a_sessions_variables_reach_the_template():
    assert session(template=THINKING, enable_thinking=True).ask("hi").prompt_tokens > session(
        template=THINKING
    ).ask("hi").prompt_tokens  # fmt: skip
    one = session(template=THINKING, template_variables={"enable_thinking": True, "unread": 1})
    assert one.ask("hi").prompt_tokens == session(template=THINKING, enable_thinking=True).ask("hi").prompt_tokens


@pytest.mark.parametrize(
    "keyword, advice",
    [
        ("modle", "did you mean model?"),
        ("temprature", "did you mean temperature?"),
        ("max_tokens", "did you mean max_new_tokens?"),
        ("context", "use n_ctx"),
        ("max_length", "use max_new_tokens"),
        ("gpu_layers", "did you mean n_gpu_layers?"),
        ("system_prompt", "did you mean system?"),
    ],
)
def test_a_sessions_wrong_keyword_names_the_right_one(keyword, advice):
    with pytest.raises(TypeError) as caught:
        session(**{keyword: 3})
    assert str(caught.value).startswith(f"ChatSession has no argument {keyword!r}") and advice in str(caught.value)


def test_an_answer_takes_the_usual_names():
    said = session("word " * 9, max_new_tokens=2, temperature=0.5, seed=1).ask(SAID).text
    assert len(tiny_tokenizer().encode(said)) <= 2


def test_variables_of_real_templates():
    for name, source in sources().items():
        read = variables_of(source)
        assert "messages" in read, name
        assert not read & {"raise_exception", "namespace", "range", "loop"}, name
