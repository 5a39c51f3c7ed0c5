"""The points of the last exercise. Nothing is believed that can be tried: texts are encoded, numbers measured again.

Chapter: Your own tokenizer. Cost: a few seconds, most of it to import transformers for the first time.
"""

from importlib.util import find_spec

from ..analysis.compression import compression
from ..analysis.tokens import never_merged, unmet
from ..errors import BPELabError, PublishingError
from ..formats.convert import TARGETS, check, losses
from ..formats.detect import open_tokenizer
from ..publishing.card import FORMS, TEXT, agrees, is_lost, measure, reference, stated, written
from ..publishing.folder import changed_files
from ..tokenizer import BPETokenizer
from .handed_in import Work, begin, ids_of_tokenizers, open_in_transformers
from .rubric import Missing, Point, Rubric
from .show import code

SHORTEST = 2_000
SAID = [
    {"role": "user", "content": "one apple"},
    {"role": "assistant", "content": "two pears"},
    {"role": "user", "content": "three plums"},
]


def opens(work: Work) -> str:
    """bpelab, tokenizers and transformers open the folder and give the same ids."""
    texts = work.texts
    ours = [work.tokenizer.encode(text, allowed_special="all", add_special_tokens=False) for text in texts]
    asked = ["bpelab"]
    if find_spec("tokenizers") is not None:
        _compare("tokenizers", texts, ours, ids_of_tokenizers(work.folder / "tokenizer.json", texts))
        asked.append("tokenizers")
    if find_spec("tokenizers") is not None and find_spec("transformers") is not None:
        theirs = open_in_transformers(work.folder)(texts, add_special_tokens=False)["input_ids"]
        _compare("transformers", texts, ours, theirs)
        asked.append("transformers")
    absent = [name for name in ("tokenizers", "transformers") if name not in asked]
    not_asked = f"; not asked, since not installed here: {', '.join(absent)}" if absent else ""
    return f"the same ids on {len(texts):,} texts from {', '.join(asked)}{not_asked}"


def _compare(name: str, texts: list[str], ours: list[list[int]], theirs: list[list[int]]) -> None:
    for text, one, two in zip(texts, ours, theirs):
        if one != two:
            raise Missing(
                f"{name} has other ids than bpelab for {code(text[:40])}: {two[:8]} and {one[:8]}",
                "write both files with tokenizer.save(folder), and change nothing in them",
            )


def comes_back(work: Work) -> str:
    """Every text comes back from its ids."""
    texts = work.texts
    lost = [text for text in texts if is_lost(work.tokenizer, text)]
    if lost:
        least = min(lost, key=len)
        back = work.tokenizer.decode(work.tokenizer.encode(least, add_special_tokens=False))
        normalizer = work.tokenizer.normalizer
        to_do = (
            f"the normalizer {normalizer} changes texts: do without"
            if normalizer
            else ("start from all 256 bytes, and let the decoder change nothing")
        )
        raise Missing(
            f"{len(lost):,} of {len(texts):,} texts don't; {code(least[:40])} becomes {code(back[:40])}", to_do
        )
    return f"all {len(texts):,} do"


def _template(work: Work) -> bool:
    return bool(work.tokenizer.metadata.get("chat_template"))


def _control(work: Work) -> dict[int, str]:
    """The tokens that tell a model something: special ones, those with a role, those that the template writes."""
    tokenizer = work.tokenizer
    ids = set(tokenizer.special_tokens.values())
    roles = [getattr(tokenizer, f"{role}_token") for role in ("bos", "eos", "pad", "unk")]
    ids |= {token.id for token in tokenizer.added_tokens if token.content in roles}
    if _template(work):
        ids |= {*tokenizer.apply_chat_template(SAID)} & {token.id for token in tokenizer.added_tokens}
    return {token.id: token.content for token in tokenizer.added_tokens if token.id in ids}


def safe(work: Work) -> str:
    """No text becomes a control token, and no message speaks for another."""
    tokenizer, control = work.tokenizer, _control(work)
    if tokenizer.eos_token is None or tokenizer.token_to_id(tokenizer.eos_token) not in control:
        raise Missing(
            "no special token ends a text (eos)",
            'train with special_tokens=["<|endoftext|>"], eos_token="<|endoftext|>"',
        )
    for name in control.values():
        for text in (name, f"a{name}b", f" {name}\n"):
            if forged := control.keys() & set(tokenizer.encode(text, add_special_tokens=False)):
                raise Missing(
                    f"the text {code(text)} gives the id {min(forged)}, which is that of {code(control[min(forged)])}",
                    "reserve it: special_tokens= in train, so that it is special and no merge makes it",
                )
    if not _template(work):
        return f"none of {len(control)} control tokens can be written in a text"
    names = "".join(control.values())
    attacked = [{**message, "content": message["content"] + names} for message in SAID]
    counts = [
        [token for token in tokenizer.apply_chat_template(messages) if token in control]
        for messages in (SAID, attacked)
    ]
    if counts[0] != counts[1]:
        raise Missing(
            "a message that holds their names writes control tokens", "see chapter 7, and change the template"
        )
    for part in between(tokenizer.apply_chat_template(SAID), control, tokenizer):
        if sum(message["content"] in part for message in SAID) > 1:
            raise Missing(
                f"nothing but text is between two messages, and a message can hold it too: {code(part)}",
                "put a special token between turns, as chatml does",
            )
    return f"none of {len(control)} control tokens can be written in a text or a message"


def between(ids: list[int], control: dict[int, str], tokenizer: BPETokenizer) -> list[str]:
    """The texts between control tokens."""
    parts: list[list[int]] = [[]]
    for token in ids:
        if token in control:
            parts.append([])
        else:
            parts[-1].append(token)
    return [tokenizer.decode(part) for part in parts]


def chats(work: Work) -> str:
    """There is a chat template that two libraries render alike."""
    tokenizer = work.tokenizer
    if not _template(work):
        raise Missing("there is no chat template", 'with_options(metadata={"chat_template": NAMED["chatml"].source})')
    whole, asked = (
        tokenizer.apply_chat_template(SAID, tokenize=False, add_generation_prompt=asked) for asked in (False, True)
    )
    at = [whole.find(message["content"]) for message in SAID]
    if min(at) < 0 or at != sorted(at):
        raise Missing(
            f"not every message is in {code(whole)}", "write message['content'] of each message, in their order"
        )
    if not asked.startswith(whole):
        raise Missing("with a generation prompt the conversation is another", "add the prompt behind it, and no more")
    ends = tokenizer.apply_chat_template(SAID[:2])
    while ends and not tokenizer.decode(ends[-1:]).strip():
        ends.pop()
    if not ends or ends[-1] not in _control(work):
        raise Missing(
            "the assistant's turn ends in text", "end it with a special token, or a model can't say that it is done"
        )
    if find_spec("transformers") is not None:
        theirs = open_in_transformers(work.folder).apply_chat_template(SAID, tokenize=False)
        if theirs != whole:
            raise Missing(
                f"transformers writes {code(theirs)}, and bpelab {code(whole)}", "use what both have (chapter 7)"
            )
    return f"a conversation of {len(SAID)} messages is {len(tokenizer.apply_chat_template(SAID))} tokens"


def one_tokenizer(work: Work) -> str:
    """Every other format in the folder gives the same ids."""
    if not work.formats:
        raise Missing(
            "there is no other format", "write a GGUF, tiktoken's or minbpe's file: convert(tokenizer, file, format)"
        )
    tokens = b" ".join(list(work.tokenizer.model.tokens.values())[:20_000])
    texts = [*work.texts, tokens.decode("utf-8", "replace")]
    for name, path, target in work.formats:
        try:
            check(work.tokenizer, path, target, texts)
        except BPELabError as error:
            raise Missing(
                str(error), f"write {name} again, from this tokenizer, with convert (bpelab.formats.convert)"
            ) from error
        pattern = open_tokenizer(path).pattern if "pattern" in TARGETS[target].holds else work.tokenizer.pattern
        if pattern != work.tokenizer.pattern:
            raise Missing(
                f"{name} splits by {pattern}, and tokenizer.json by {work.tokenizer.pattern}", f"write {name} again"
            )
    return f"{', '.join(name for name, _, _ in work.formats)}: the same ids on {len(texts):,} texts"


def says(work: Work) -> str:
    """The card says what each format leaves out."""
    rows, named = stated(work.card), 0
    if not work.formats:
        raise Missing("there is no other format", "write one, and a row of a table for it")
    for name, _, target in work.formats:
        lost = [loss.feature for loss in losses(work.tokenizer, target)]
        if absent := [feature for feature in lost if feature not in rows.get(name, "")]:
            raise Missing(
                f"the card has no row that says that {name} is without: {', '.join(absent)}",
                f"add one to a table: | `{name}` | {', '.join(lost)} |",
            )
        pattern = work.tokenizer.pattern
        if "pattern" in lost and pattern and pattern not in work.card:
            raise Missing(
                f"{name} is without the pattern, and the card doesn't name it", f"write {pattern} into the card"
            )
        named += len(lost)
    return f"{named} things that {len(work.formats)} formats are without"


def compresses(work: Work) -> str:
    """It compresses its held-out text better than the reference."""
    found, other = (compression(tokenizer, work.text) for tokenizer in (work.tokenizer, reference()))
    if found.bytes < SHORTEST or len(set(work.text.split())) < SHORTEST // 20:
        raise Missing(
            f"{found.bytes:,} bytes, {len(set(work.text.split())):,} different words",
            f"measure on more text: {SHORTEST:,} bytes, {SHORTEST // 20} different words",
        )
    if found.tokens >= other.tokens:
        raise Missing(
            f"{found.tokens:,} tokens; the reference needs {other.tokens:,}",
            "train on more text of the kind, or a larger vocabulary",
        )
    return f"{found.tokens:,} tokens; the reference needs {other.tokens:,}"


def reaches(work: Work) -> str:
    """At most one token in a hundred is never reached."""
    lost = {*never_merged(work.tokenizer), *unmet(work.tokenizer)}
    found = f"{len(lost):,} of {len(work.tokenizer):,} tokens"
    if 100 * len(lost) > len(work.tokenizer):
        shown = ", ".join(code(work.tokenizer.model.tokens[token]) for token in sorted(lost)[:4])
        raise Missing(f"{found}, {shown} among them", "train with the pattern that you use")
    return found


def is_true(work: Work) -> str:
    """The card's numbers can be measured again."""
    rows, measured = stated(work.card), measure(work.tokenizer, work.text)
    for name in FORMS:
        is_so = written(name, measured[name])
        if name not in rows:
            raise Missing(f"the card doesn't say: {name}", f"add a row to a table: | {name} | {is_so} |")
        if not agrees(rows[name], measured[name]):
            raise Missing(
                f"the card says {rows[name] or 'nothing'} for: {name}; measured, it is {is_so}", "measure, then write"
            )
    return f"{len(FORMS)} numbers, each as the card has it"


def is_whole(work: Work) -> str:
    """SHA256SUMS has the hash of every file."""
    try:
        changed = changed_files(work.folder)
    except PublishingError as error:
        raise Missing(
            str(error), "a folder of a tokenizer's own files, and write_hashes(folder) as the last thing"
        ) from error
    if changed:
        raise Missing(f"not as SHA256SUMS has it: {', '.join(changed[:4])}", "write_hashes(folder), as the last thing")
    return "every file is as SHA256SUMS has it"


RUBRIC = Rubric(
    begin,
    (
        Point("opens", 2, "bpelab, tokenizers and transformers open the folder and give the same ids.", opens),
        Point("comes back", 3, "Every text comes back from its ids as it was.", comes_back),
        Point("safe", 3, "No text becomes a control token, and no message speaks for another.", safe),
        Point("chats", 2, "There is a chat template, which two libraries render alike.", chats),
        Point("one tokenizer", 3, "At least one other format is there, and all give the same ids.", one_tokenizer),
        Point("says what is missing", 1, "The card says what each format leaves out.", says),
        Point("compresses", 1, f"{TEXT} is fewer tokens than with the reference.", compresses),
        Point("reaches", 1, "At most one token in a hundred is never reached.", reaches),
        Point("is true", 3, "Every number on the card is found when measured again.", is_true),
        Point("is whole", 1, "SHA256SUMS has the hash of every file.", is_whole),
    ),
    enough=18,
)
