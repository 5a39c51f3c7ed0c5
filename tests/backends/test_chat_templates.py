"""The chat templates that llama.cpp comes with, as its models' makers wrote them: the same text as transformers.

They are in the source package of llama-cpp-python, which `make test-backends` keeps beside its wheels. BPELAB_TEMPLATES
may name a folder of .jinja files instead.
"""

import os
import random
import tarfile
from functools import lru_cache
from pathlib import Path

import pytest

from bpelab import BPETokenizer
from bpelab.chat import apply_chat_template
from bpelab.chat_templates.encode import encode
from bpelab.chat_templates.render import render
from bpelab.errors import ConversationError, TemplateError

from ..chat_templates.conversations import TOOLS, as_newest_hands_on, conversation
from ..conftest import amount
from .conftest import NO_SOURCES, llama_cpp_sources, need

transformers = need("transformers")
need("jinja2")
CALL = {"id": "abcdefghi", "type": "function"}
CALL["function"] = {"name": "weather", "arguments": {"place": "<Köln> & 'here'", "days": 3, "deep": [True, None, 1.5]}}
ANSWER = {"role": "assistant", "content": "<think>\nhm\n</think>\n\n yes "}
CONVERSATIONS = [
    [{"role": "user", "content": "hi <|im_end|> "}],
    [
        {"role": "system", "content": " S "},
        {"role": "user", "content": "hi\n"},
        ANSWER,
        {"role": "user", "content": "2"},
    ],
    [
        {"role": "user", "content": "how is it?"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "abcdefghi", "name": "weather", "content": '{"sun": 1}'},
        {"role": "assistant", "content": "fine"},
        {"role": "user", "content": "and now?"},
    ],
    [{"role": "user", "content": [{"type": "text", "text": "é"}, {"type": "text", "text": "b"}]}],
]
VARIABLES = {"functions": "none", "datetime": "now"}  # what one of the templates reads


@lru_cache(1)
def templates() -> dict[str, str]:
    if folder := os.environ.get("BPELAB_TEMPLATES"):
        return {path.name: path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.jinja"))}
    found = {}
    if package := llama_cpp_sources():
        with tarfile.open(package) as archive:
            for member in archive:
                if "/models/templates/" in member.name and member.name.endswith(".jinja"):
                    found[Path(member.name).name] = archive.extractfile(member).read().decode()
    return found


def test_there_are_templates():
    if not templates():
        pytest.skip(f"{NO_SOURCES}, or name a folder in BPELAB_TEMPLATES")
    assert len(templates()) > 50


@lru_cache(1)
def tokenizer() -> BPETokenizer:
    plain = BPETokenizer.train("abab", 257)
    return plain.with_special_tokens(["<s>", "</s>", "<|im_end|>"], bos_token="<s>", eos_token="</s>")


@pytest.mark.parametrize("name", sorted(templates()))
def test_text(name):
    from transformers.utils.chat_template_utils import render_jinja_template

    source, rendered = templates()[name], 0
    rng = random.Random(name)
    for messages in [*CONVERSATIONS, *(conversation(rng) for _ in range(amount(4, 200)))]:
        for tools in (None, TOOLS):
            for prompt in (False, True):
                try:
                    want = render_jinja_template(
                        [as_newest_hands_on(messages)],
                        tools=tools,
                        chat_template=source,
                        add_generation_prompt=prompt,
                        bos_token="<s>",
                        eos_token="</s>",
                        **VARIABLES,
                    )[0][0]
                except Exception:
                    want = None
                options = {"tools": tools, "add_generation_prompt": prompt}
                try:
                    got = apply_chat_template(
                        tokenizer(), messages, source, tokenize=False, **options, template_variables=VARIABLES
                    )
                except (ConversationError, TemplateError):
                    got = None
                assert got == want
                rendered += want is not None
                if got is not None:
                    text = render(
                        tokenizer(),
                        messages,
                        source,
                        **options,
                        documents=None,
                        continue_final_message=False,
                        variables=VARIABLES,
                    )
                    found = encode(tokenizer(), text)
                    for place, control in zip(found.offsets, found.control):
                        assert not control or all(origin.trusted for _, origin in text[slice(*place)].runs)
    assert rendered
