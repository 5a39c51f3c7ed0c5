"""Items written by hand: facts, small talk, and questions about what the model doesn't know.

Subjects of facts are asked for in many wordings; everything else in the wordings that the files have.
"""

from collections.abc import Iterator

from .items import FRAMES, HERE, REMARKS, Item, framed, held_out, normal

SUBJECT = (
    "What is {}?", "What does {} mean?", "Explain {}.", "Define {}.", "Tell me about {}.", "What do you know about {}?",
    "What is meant by {}?", "Please explain {}.", "Can you explain {}?", "Can you tell me what {} is?", "Describe {}.",
    "I want to know what {} is.", "What exactly is {}?", "Could you explain {} to me?", "Explain {} in one sentence.",
    "I don't know what {} is.", "Do you know what {} is?", "What is {} in simple words?", "Give me a definition of {}.",
    "How would you explain {}?", "Help me understand {}.", "What's {}?", "Who can explain {}?", "Say what {} is.",
)  # fmt: skip


def blocks(name: str) -> Iterator[tuple[list[str], list[str], str]]:
    """Yield the subjects, the questions and the answer of each block of a file."""
    subjects: list[str] = []
    questions: list[str] = []
    for line in (HERE / name).read_text("utf-8").splitlines():
        kind, _, text = line.partition(" ")
        if kind == "T":
            subjects.append(text)
        elif kind == "Q":
            questions.append(text)
        elif kind == "A":
            yield subjects, questions, text
            subjects, questions = [], []


def facts() -> Iterator[Item]:
    """Yield facts. One in ten wordings of a subject is held out, and one in nine questions; so are some frames."""
    for subjects, questions, answer in blocks("facts.txt"):
        for subject in subjects:
            for wording in SUBJECT:
                question = wording.format(subject)
                yield Item("definitions", question, answer, held_out(question, 10))
        for question in questions:
            yield Item("facts in new words", question, answer, held_out(question, 9), times=2)
        yield from in_frames("facts in a new frame", questions, answer, FRAMES)


def in_frames(category: str, questions: list[str], answer: str, frames: tuple[str, ...]) -> Iterator[Item]:
    """Yield the training questions in frames: for facts, half of these pairs; one in twenty is held out."""
    for question in questions:
        if held_out(question, 9):
            continue
        for frame in frames:
            text = framed(question, frame)
            held = normal(text) != normal(question) and held_out(normal(text), 20)
            if held or frames is REMARKS or held_out(f"train {text}", 2):
                yield Item(category, text, answer, held, "")


def small_talk() -> Iterator[Item]:
    """Yield small talk. One in nine of the things that people say is held out."""
    for _, questions, answer in blocks("small_talk.txt"):
        for question in questions:
            yield Item("small talk in new words", question, answer, held_out(question, 9), "remark", 4)
        yield from in_frames("small talk in a new frame", questions, answer, REMARKS)


def unknown() -> Iterator[Item]:
    """Yield questions about other things. One in eight subjects is held out."""
    lines = (HERE / "unknown.txt").read_text("utf-8").splitlines()
    lists: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("L "):
            _, name, words = line.split(" ", 2)
            lists[name] = words.split("|") if "|" in words else words.split()
    [(_, questions, answer)] = blocks("unknown.txt")
    for question in questions:
        name = question.partition("{")[2].partition("}")[0]
        for word in lists.get(name, [""]):
            text = question.replace(f"{{{name}}}", word)
            held = held_out(word, 8) if word else held_out(text, 9)
            yield Item("other subjects", text, answer, held)
