"""The chat template that a real tokenizer ships with: the text and the ids that transformers makes of conversations."""

import random
import shutil

import pytest

from bpelab import BPETokenizer
from bpelab.errors import ConversationError, TemplateError

from ..chat_templates.conversations import TOOLS, conversation
from .catalogue import TOKENIZER_JSON
from .download import real_config, real_file

transformers = pytest.importorskip("transformers")
CONVERSATIONS = 60
HAVE_TEMPLATES = [file for file in TOKENIZER_JSON if file.config is not None]


@pytest.mark.parametrize("file", [pytest.param(file, id=file.name) for file in HAVE_TEMPLATES])
def test_conversations(file, tmp_path):
    shutil.copy(real_file(file), tmp_path / "tokenizer.json")
    shutil.copy(real_config(file), tmp_path / "tokenizer_config.json")
    ours = BPETokenizer.from_pretrained(tmp_path)
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path)
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
