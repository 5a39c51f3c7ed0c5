"""One question with its answer, and the rule that says which are held out.

A thing (a word to spell, a question's wording, a pair of numbers) is held out by a checksum of what it is, so that the
split depends on nothing else and never moves when the corpus grows.
"""

from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Item:
    """A question and its answer.

    Attributes:
        category: what it is scored under.
        question: what the user says.
        answer: what the model should say.
        held: whether it is kept from training.
        frames: how it may be framed in training: "question", "remark", or "" for not at all.
        times: how often it is in the training text, for what is asked in few wordings.
    """

    category: str
    question: str
    answer: str
    held: bool = False
    frames: str = "question"
    times: int = 1


def held_out(thing: str, one_in: int) -> bool:
    """Whether a thing is held out from training, as about one in `one_in` is.

    >>> [number for number in range(40) if held_out(str(number), 8)]
    [4, 14, 23, 28, 37]
    """
    return crc32(thing.encode()) % one_in == 0


FRAMES = (
    "Hi! {}", "Hello! {}", "Hello, {low}", "Hi, {low}", "Please tell me: {low}", "Tell me: {low}", "Okay, {low}",
    "I have a question: {low}", "Quick question: {low}", "Can you tell me this: {low}", "One more question: {low}",
    "So, {low}", "Question: {}", "{} Thanks!", "{} Please answer.", "Now tell me: {low}", "{low}", "{bare}",
)  # fmt: skip
REMARKS = ("{low}", "{bare}", "{plain}", "{} :)", "Tiny, {low}", "Well, {low}", "So, {low}")
KEPT = ("GPT", "BPE", "UTF", "BERT", "BOS", "EOS", "NF", "ASCII", "Unicode", "Google", "Hindi", "I ", "T5", "Jinja")


def framed(question: str, frame: str) -> str:
    """Return a question in a frame, without its capital letter or its last mark where the frame says so.

    >>> framed("What is a token?", "Tell me: {low}"), framed("What is a token?", "{bare}")
    ('Tell me: what is a token?', 'what is a token')
    """
    low = question if question.startswith(KEPT) else question[0].lower() + question[1:]
    return frame.format(question, low=low, bare=low.rstrip("?.!"), plain=question.rstrip("?.!"))


def normal(question: str) -> str:
    """Normalize a question: a small first letter, and no last mark. Questions that are then equal count as one."""
    return (question[0].lower() + question[1:]).rstrip("?.! ")


def frames_of(item: Item) -> tuple[str, ...]:
    """Return the frames in which training may put an item."""
    return {"question": FRAMES, "remark": REMARKS}.get(item.frames, ())
