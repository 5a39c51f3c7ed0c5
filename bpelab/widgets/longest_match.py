"""WordPiece's longest match, lookup by lookup: pieces tried, taken and lost. Chapter: WordPiece and Unigram."""

from html import escape
from typing import Any

from ..baselines.common import words_and_marks
from ..baselines.wordpiece import CONTINUATION, UNKNOWN, WordPieceTokenizer
from .base import Figure
from .visible import chips, pluralize, quoted, visible


class LongestMatch(Figure):
    """Each vocabulary lookup of a `WordPieceTokenizer` for the words of `text`, longest piece first.

    Shows 60 characters, without white space. Everything comes from what `encode_word` records.

    >>> figure = LongestMatch(WordPieceTokenizer(["un", "##happy", "##ha"]), "unhappy unhat")
    >>> [(step["from"], step["to"]) for step in figure.data["steps"] if step["action"] == "take"]
    [(0, 2), (2, 7), (7, 9), (9, 11)]
    >>> figure.data["steps"][-1]["say"]
    'No piece begins at “t”: longest match never goes back, so the whole word “unhat” becomes “[UNK]”, id 0.'
    """

    name = "longest_match"
    limit = 60

    def __init__(self, tokenizer: WordPieceTokenizer, text: str) -> None:
        self._tokenizer = tokenizer
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return the characters, the positions where words start, and the steps, each with a sentence."""
        words, steps, ids, begin = words_and_marks(text), list[dict[str, Any]](), list[int](), 0
        starts = []
        for word in words:
            steps += self._steps_of(word, begin)
            ids += self._tokenizer.encode_word(word)
            starts.append(begin)
            begin += len(word)
        characters = "".join(words)
        nothing = "No word, so no tokens." if text else "No text, so no tokens."
        first = f"{pluralize(len(words), 'word')}, {pluralize(len(characters), 'character')}, nothing looked up yet."
        if steps:
            steps[-1]["say"] += f" The end is reached: {pluralize(len(ids), 'token')}." * bool(ids[-1])
        return {
            "leaves": [visible(char.encode()) for char in characters],
            "pieces": starts,
            "steps": steps,
            "ids": ids,
            "begin": first if words else nothing,
            "say": steps[-1]["say"] if steps else nothing,
        }

    def _steps_of(self, word: str, begin: int) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = []

        def look(start: int, end: int, token_id: int | None) -> None:
            piece = CONTINUATION * bool(start) + word[start:end]
            verdict = (
                "is no piece." if token_id is None else f"is a piece, id {token_id}: the longest that fits. Take it."
            )
            action = "miss" if token_id is None else "take"
            add(action, start, end, piece, token_id, f"{quoted(piece.encode())} {verdict}")

        def add(action: str, start: int, end: int, piece: str, token_id: int | None, say: str) -> None:
            place = {"from": begin + start, "to": begin + end, "label": visible(piece.encode()), "id": token_id}
            steps.append({"action": action, **place, "say": say})

        if self._tokenizer.encode_word(word, look) == [0]:
            stuck = steps[-1]["from"] - begin if steps else 0
            lost = f"the whole word {quoted(word.encode())} becomes “{UNKNOWN}”, id 0."
            why = f"No piece begins at {quoted(word[stuck].encode())}: longest match never goes back, so {lost}"
            add("lose", 0, len(word), UNKNOWN, 0, why)
        return steps

    def still(self, data: dict[str, Any]) -> str:
        """Return the tokens, and the pieces taken or lost on the way."""
        rows = "".join(f"<li>{escape(step['say'])}</li>" for step in data["steps"] if step["action"] != "miss")
        tokens = chips(self._tokenizer.vocabulary[token_id].encode() for token_id in data["ids"])
        return f"<p>{tokens}</p>\n<ol>{rows}</ol>" if rows else f"<p>{escape(data['say'])}</p>"
