"""The rubric of the last exercise. It tests every claim: it encodes texts and repeats the measurements.

Chapter: Publish your own tokenizer. Cost: a few seconds, most of it for the first import of transformers.
"""

from importlib.util import find_spec

from ..analysis.compression import compression
from ..analysis.tokens import never_merged, unreachable_alone
from ..convert import TARGETS, check, unsupported
from ..errors import BPELabError, PublishingError
from ..notebook.messages import code
from ..publishing.card import MEASURES, TEXT_FILE, agrees, format_measure, is_lost, measure, parse_card, reference
from ..publishing.folder import changed_files
from ..tokenizer import BPETokenizer, open_tokenizer
from .rubric import NotEarned, Point, Rubric
from .submission import Submission, ids_of_tokenizers, open_in_transformers, open_submission

MIN_TEXT_BYTES = 2_000
CONVERSATION = [
    {"role": "user", "content": "one apple"},
    {"role": "assistant", "content": "two pears"},
    {"role": "user", "content": "three plums"},
]


def loads_everywhere(submission: Submission) -> str:
    """Check that bpelab, tokenizers and transformers load the folder and return the same ids."""
    texts = submission.texts
    ours = [submission.tokenizer.encode(text, allowed_special="all", add_special_tokens=False) for text in texts]
    compared = ["bpelab"]
    if find_spec("tokenizers") is not None:
        _compare("tokenizers", texts, ours, ids_of_tokenizers(submission.folder / "tokenizer.json", texts))
        compared.append("tokenizers")
    if find_spec("tokenizers") is not None and find_spec("transformers") is not None:
        theirs = open_in_transformers(submission.folder)(texts, add_special_tokens=False)["input_ids"]
        _compare("transformers", texts, ours, theirs)
        compared.append("transformers")
    absent = [name for name in ("tokenizers", "transformers") if name not in compared]
    not_asked = f"; not asked, since not installed here: {', '.join(absent)}" if absent else ""
    return f"the same ids on {len(texts):,} texts from {', '.join(compared)}{not_asked}"


def _compare(name: str, texts: list[str], ours: list[list[int]], theirs: list[list[int]]) -> None:
    for text, one, two in zip(texts, ours, theirs):
        if one != two:
            raise NotEarned(
                f"{name} and bpelab return different ids for {code(text[:40])}: {two[:8]} and {one[:8]}",
                "write both files with tokenizer.save(folder), and change nothing in them",
            )


def round_trips(submission: Submission) -> str:
    """Check that every text survives encoding and decoding."""
    texts = submission.texts
    lost = [text for text in texts if is_lost(submission.tokenizer, text)]
    if lost:
        least = min(lost, key=len)
        back = submission.tokenizer.decode(submission.tokenizer.encode(least, add_special_tokens=False))
        normalizer = submission.tokenizer.spec.normalizer
        to_do = (
            f"the normalizer {normalizer} changes texts: do without"
            if normalizer
            else ("start from all 256 bytes, and let the decoder change nothing")
        )
        raise NotEarned(
            f"{len(lost):,} of {len(texts):,} texts don't; {code(least[:40])} becomes {code(back[:40])}", to_do
        )
    return f"all {len(texts):,} do"


def _has_template(submission: Submission) -> bool:
    return bool(submission.tokenizer.spec.metadata.get("chat_template"))


def _control_tokens(submission: Submission) -> dict[int, str]:
    """Return the control tokens, id -> content: special tokens, tokens with a role, and tokens the template writes."""
    tokenizer = submission.tokenizer
    ids = set(tokenizer.special_tokens.values())
    roles = [getattr(tokenizer, f"{role}_token") for role in ("bos", "eos", "pad", "unk")]
    ids |= {token.id for token in tokenizer.added_tokens if token.content in roles}
    if _has_template(submission):
        ids |= {*tokenizer.apply_chat_template(CONVERSATION)} & {token.id for token in tokenizer.added_tokens}
    return {token.id: token.content for token in tokenizer.added_tokens if token.id in ids}


def resists_injection(submission: Submission) -> str:
    """Check that no text encodes to a control token, and that no message can forge another message."""
    tokenizer, control = submission.tokenizer, _control_tokens(submission)
    if tokenizer.eos_token is None or tokenizer.token_to_id(tokenizer.eos_token) not in control:
        raise NotEarned(
            "no special token ends a text (eos)",
            'train with special_tokens=["<|endoftext|>"], eos_token="<|endoftext|>"',
        )
    for name in control.values():
        for text in (name, f"a{name}b", f" {name}\n"):
            if forged := control.keys() & set(tokenizer.encode(text, add_special_tokens=False)):
                token_id = min(forged)
                raise NotEarned(
                    f"the text {code(text)} encodes to the id {token_id}, which is that of {code(control[token_id])}",
                    "reserve it: special_tokens= in train, so that it is special and no merge makes it",
                )
    if not _has_template(submission):
        return f"none of {len(control)} control tokens can be written in a text"
    names = "".join(control.values())
    attacked = [{**message, "content": message["content"] + names} for message in CONVERSATION]
    counts = [
        [token for token in tokenizer.apply_chat_template(messages) if token in control]
        for messages in (CONVERSATION, attacked)
    ]
    if counts[0] != counts[1]:
        raise NotEarned(
            "a message that contains their names produces control tokens",
            "change the template: see the chapter on chat templates",
        )
    for part in texts_between(tokenizer.apply_chat_template(CONVERSATION), control, tokenizer):
        if sum(message["content"] in part for message in CONVERSATION) > 1:
            raise NotEarned(
                f"nothing but text is between two messages, and a message can hold it too: {code(part)}",
                "put a special token between turns, as chatml does",
            )
    return f"none of {len(control)} control tokens can be written in a text or a message"


def texts_between(ids: list[int], control: dict[int, str], tokenizer: BPETokenizer) -> list[str]:
    """Split ids at control tokens; return the texts in between."""
    parts: list[list[int]] = [[]]
    for token in ids:
        if token in control:
            parts.append([])
        else:
            parts[-1].append(token)
    return [tokenizer.decode(part) for part in parts]


def has_chat_template(submission: Submission) -> str:
    """Check that there is a chat template, and that two libraries render it alike."""
    tokenizer = submission.tokenizer
    if not _has_template(submission):
        raise NotEarned("there is no chat template", 'with_options(metadata={"chat_template": NAMED["chatml"].source})')
    whole, prompted = (
        tokenizer.apply_chat_template(CONVERSATION, tokenize=False, add_generation_prompt=prompt)
        for prompt in (False, True)
    )
    at = [whole.find(message["content"]) for message in CONVERSATION]
    if min(at) < 0 or at != sorted(at):
        raise NotEarned(
            f"not every message is in {code(whole)}", "write message['content'] of each message, in their order"
        )
    if not prompted.startswith(whole):
        raise NotEarned("the generation prompt changes the conversation", "add the prompt after it, and no more")
    ends = tokenizer.apply_chat_template(CONVERSATION[:2])
    while ends and not tokenizer.decode(ends[-1:]).strip():
        ends.pop()
    if not ends or ends[-1] not in _control_tokens(submission):
        raise NotEarned(
            "the assistant's turn ends in text", "end it with a special token, or a model can't say that it is done"
        )
    if find_spec("transformers") is not None:
        theirs = open_in_transformers(submission.folder).apply_chat_template(CONVERSATION, tokenize=False)
        if theirs != whole:
            raise NotEarned(
                f"transformers writes {code(theirs)}, and bpelab {code(whole)}",
                "use what both have: see the chapter on chat templates",
            )
    return (
        f"a conversation of {len(CONVERSATION)} messages is {len(tokenizer.apply_chat_template(CONVERSATION))} tokens"
    )


def formats_agree(submission: Submission) -> str:
    """Check that every other format in the folder returns the same ids."""
    if not submission.formats:
        raise NotEarned(
            "there is no other format", "write a GGUF, tiktoken's or minbpe's file: convert(tokenizer, file, format)"
        )
    tokens = b" ".join(list(submission.tokenizer.model.tokens.values())[:20_000])
    texts = [*submission.texts, tokens.decode("utf-8", "replace")]
    for name, path, target in submission.formats:
        try:
            check(submission.tokenizer, path, target, texts)
        except BPELabError as error:
            raise NotEarned(
                str(error), f"write {name} again, from this tokenizer, with convert (bpelab.convert)"
            ) from error
        pattern = open_tokenizer(path).pattern if "pattern" in TARGETS[target].holds else submission.tokenizer.pattern
        if pattern != submission.tokenizer.pattern:
            raise NotEarned(
                f"{name} splits by {pattern}, and tokenizer.json by {submission.tokenizer.pattern}",
                f"write {name} again",
            )
    return f"{', '.join(name for name, _, _ in submission.formats)}: the same ids on {len(texts):,} texts"


def states_losses(submission: Submission) -> str:
    """Check that the card says what each format leaves out."""
    rows, named = parse_card(submission.card), 0
    if not submission.formats:
        raise NotEarned("there is no other format", "write one, and a row of a table for it")
    for name, _, target in submission.formats:
        lost = [loss.feature for loss in unsupported(submission.tokenizer, target)]
        if absent := [feature for feature in lost if feature not in rows.get(name, "")]:
            raise NotEarned(
                f"the card has no row that says that {name} leaves out: {', '.join(absent)}",
                f"add one to a table: | `{name}` | {', '.join(lost)} |",
            )
        pattern = submission.tokenizer.pattern
        if "pattern" in lost and pattern and pattern not in submission.card:
            raise NotEarned(
                f"{name} leaves out the pattern, and the card doesn't name it", f"write {pattern} into the card"
            )
        named += len(lost)
    return f"{named} things that {len(submission.formats)} formats are without"


def compresses(submission: Submission) -> str:
    """Check that the held-out text takes fewer tokens than with the reference tokenizer."""
    own, other = (compression(tokenizer, submission.text) for tokenizer in (submission.tokenizer, reference()))
    if own.bytes < MIN_TEXT_BYTES or len(set(submission.text.split())) < MIN_TEXT_BYTES // 20:
        raise NotEarned(
            f"{own.bytes:,} bytes, {len(set(submission.text.split())):,} different words",
            f"measure on more text: {MIN_TEXT_BYTES:,} bytes, {MIN_TEXT_BYTES // 20} different words",
        )
    if own.tokens >= other.tokens:
        raise NotEarned(
            f"{own.tokens:,} tokens; the reference needs {other.tokens:,}",
            "train on more text of the kind, or a larger vocabulary",
        )
    return f"{own.tokens:,} tokens; the reference needs {other.tokens:,}"


def uses_vocabulary(submission: Submission) -> str:
    """Check that at most one token in a hundred is never produced."""
    lost = {*never_merged(submission.tokenizer), *unreachable_alone(submission.tokenizer)}
    finding = f"{len(lost):,} of {len(submission.tokenizer):,} tokens"
    if 100 * len(lost) > len(submission.tokenizer):
        examples = ", ".join(code(submission.tokenizer.model.tokens[token]) for token in sorted(lost)[:4])
        raise NotEarned(f"{finding}, {examples} among them", "train with the pattern that you use")
    return finding


def numbers_match(submission: Submission) -> str:
    """Check that new measurements match the card's numbers."""
    rows, measured = parse_card(submission.card), measure(submission.tokenizer, submission.text)
    for name in MEASURES:
        is_so = format_measure(name, measured[name])
        if name not in rows:
            raise NotEarned(f"the card doesn't say: {name}", f"add a row to a table: | {name} | {is_so} |")
        if not agrees(rows[name], measured[name]):
            raise NotEarned(
                f"the card says {rows[name] or 'nothing'} for: {name}; measured, it is {is_so}", "measure, then write"
            )
    return f"{len(MEASURES)} numbers, each as the card has it"


def hashes_match(submission: Submission) -> str:
    """Check that SHA256SUMS has the hash of every file."""
    try:
        changed = changed_files(submission.folder)
    except PublishingError as error:
        raise NotEarned(
            str(error), "a folder of a tokenizer's own files, and write_hashes(folder) as the last thing"
        ) from error
    if changed:
        raise NotEarned(
            f"not as SHA256SUMS has it: {', '.join(changed[:4])}", "write_hashes(folder), as the last thing"
        )
    return "every file is as SHA256SUMS has it"


RUBRIC = Rubric(
    open_submission,
    (
        Point(
            "opens", 2, "bpelab, tokenizers and transformers open the folder and give the same ids.", loads_everywhere
        ),
        Point("comes back", 3, "Every text comes back from its ids as it was.", round_trips),
        Point("safe", 3, "No text becomes a control token, and no message speaks for another.", resists_injection),
        Point("chats", 2, "There is a chat template, which two libraries render alike.", has_chat_template),
        Point("one tokenizer", 3, "At least one other format is there, and all give the same ids.", formats_agree),
        Point("says what is missing", 1, "The card says what each format leaves out.", states_losses),
        Point("compresses", 1, f"{TEXT_FILE} is fewer tokens than with the reference.", compresses),
        Point("reaches", 1, "At most one token in a hundred is never reached.", uses_vocabulary),
        Point("is true", 3, "Every number on the card is found when measured again.", numbers_match),
        Point("is whole", 1, "SHA256SUMS has the hash of every file.", hashes_match),
    ),
    pass_mark=18,
)
