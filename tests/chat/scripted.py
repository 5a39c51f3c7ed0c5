"""A backend that says what it is told: for what a session does around a model."""

from collections.abc import Callable, Sequence

import numpy as np

from bpelab import BPETokenizer
from bpelab.chat.backends.base import Backend

from .tiny import tiny_tokenizer

Say = Callable[[str, int], Sequence[int]]


class Scripted(Backend):
    """Answers in ChatML. `say` gives the ids of an answer for the user's last text and the number of messages.

    Behind them comes <|im_end|>. `before` is called with the number of ids held whenever logits are asked for.
    """

    name = "scripted"

    def __init__(self, say: Say | str, *, context: int = 4096, tokenizer: BPETokenizer | None = None) -> None:
        self.tokenizer = tokenizer or tiny_tokenizer()
        super().__init__(device="paper", context=context, vocab_size=self.tokenizer.n_vocab, kv_bytes=0)
        self.say: Say = (lambda *_: self.tokenizer.encode(say)) if isinstance(say, str) else say
        self.begin, self.end = (self.tokenizer.token_to_id(name) for name in ("<|im_start|>", "<|im_end|>"))
        self.header = self.tokenizer.encode("assistant\n")
        self.ids: list[int] = []
        self.prompts: list[list[int]] = []
        self.before: Callable[[int], object] = lambda held: None
        self.own: Callable[[str], list[int]] | None = None

    def native_encode(self, text: str) -> list[int] | None:
        return None if self.own is None else self.own(text)

    def _keep(self, count: int) -> int:
        del self.ids[count:]
        return count

    def _feed(self, ids: list[int]) -> np.ndarray:
        self.ids += ids
        self.before(len(self.ids))
        starts = [place for place, token in enumerate(self.ids) if token == self.begin]
        opens = [place for place in starts if self.ids[place + 1 : place + 1 + len(self.header)] == self.header]
        said = len(self.ids) - opens[-1] - 1 - len(self.header) if opens else -1
        logits = np.zeros(self.vocab_size, np.float32)
        if said < 0:  # in the middle of the prompt
            return logits
        if said == 0:
            self.prompts.append(list(self.ids))
        asked = starts[starts.index(opens[-1]) - 1]
        user = self.tokenizer.decode(self.ids[asked + 1 : opens[-1]]).removeprefix("user\n")
        answer = [*self.say(user.removesuffix("<|im_end|>\n"), len(starts) - 1), self.end]
        logits[answer[min(said, len(answer) - 1)]] = 9
        return logits
