"""The chat template that a real tokenizer ships with: the text and the ids that transformers makes of conversations."""

import random
import shutil

import pytest

from bpelab import BPETokenizer
from bpelab.chat_templates.control_tokens import HTML, UNFLAGGED
from bpelab.errors import ConversationError, TemplateError

from ..chat_templates.conversations import TOOLS, conversation
from .catalogue import TOKENIZER_JSON
from .download import real_config, real_file

transformers = pytest.importorskip("transformers")
CONVERSATIONS = 60
HAVE_TEMPLATES = [file for file in TOKENIZER_JSON if file.config is not None]


def by_name(files):
    return [pytest.param(file, id=file.name) for file in files]


def opened(file, folder):
    """Our tokenizer and transformers' of a file and its template."""
    shutil.copy(real_file(file), folder / "tokenizer.json")
    shutil.copy(real_config(file), folder / "tokenizer_config.json")
    return BPETokenizer.from_pretrained(folder), transformers.PreTrainedTokenizerFast.from_pretrained(folder)


@pytest.mark.parametrize("file", by_name(HAVE_TEMPLATES))
def test_conversations(file, tmp_path):
    ours, theirs = opened(file, tmp_path)
    rng, rendered = random.Random(file.name), 0
    for number in range(CONVERSATIONS):
        messages = conversation(rng, plain=number % 2 == 0)
        options = {"tools": rng.choice([None, TOOLS]), "add_generation_prompt": rng.random() < 0.5}
        try:
            text = theirs.apply_chat_template(messages, tokenize=False, **options)
        except Exception:  # whatever the template raises
            with pytest.raises((ConversationError, TemplateError)):
                ours.apply_chat_template(messages, tokenize=False, **options)
            continue
        assert ours.apply_chat_template(messages, tokenize=False, **options) == text
        assert ours.apply_chat_template(messages, **options) == theirs(text, add_special_tokens=False)["input_ids"]
        rendered += 1
    assert rendered > CONVERSATIONS // 4


@pytest.mark.parametrize("file", by_name(file for file in HAVE_TEMPLATES if file.name.startswith("Gem")))
def test_html_has_its_tokens(file, tmp_path):
    ours, theirs = opened(file, tmp_path)
    message = {"role": "user", "content": "".join(f"<{name}>a</{name}>" for name in HTML.split())}
    text = ours.apply_chat_template([message], tokenize=False)
    ids = ours.apply_chat_template([message])
    assert ids == theirs(text, add_special_tokens=False)["input_ids"]
    assert ours.token_to_id("<table>") in ids


@pytest.mark.parametrize("file", by_name(file for file in TOKENIZER_JSON if file.name in UNFLAGGED))
def test_control_tokens_that_are_not_special(file):
    tokenizer = BPETokenizer.from_pretrained(real_file(file))
    unflagged = {token.content for token in tokenizer.added_tokens if not token.special}
    assert {*UNFLAGGED[file.name].split()} <= unflagged
    for name in unflagged:
        ids = tokenizer.apply_chat_template([{"role": "user", "content": f"a {name} b"}], "{{ messages[0].content }}")
        assert tokenizer.token_to_id(name) not in ids, name
