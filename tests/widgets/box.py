"""The box to type in, as tests in a browser use it."""

from functools import lru_cache

from bpelab import BPETokenizer
from bpelab.notebook import book_text

CHAT = ["<|im_start|>", "<|im_end|>"]


@lru_cache(None)
def tokenizer(pattern: str = "cl100k") -> BPETokenizer:
    return BPETokenizer.train(book_text()[:60_000], 1200, pattern=pattern).with_special_tokens(CHAT)


def settle(page):
    """Wait until the box shows what was asked of it last."""
    page.locator('.bl[aria-busy="false"]').wait_for(timeout=0)


class Side:
    """What one side of the box shows."""

    def __init__(self, page, place: int = 0):
        self.page, self.node = page, page.locator(".bl-two > div").nth(place)
        self.say, self.detail = self.node.locator(".bl-say"), self.node.locator(".bl-detail")
        self.flow, self.ids, self.bytes = (
            self.node.locator(one) for one in (".bl-flow >> nth=0", ".bl-ids >> nth=0", ".bl-ids >> nth=1")
        )

    def choose(self, title: str):
        self.node.get_by_role("combobox").select_option(label=title)
        settle(self.page)

    def listed(self) -> list[int]:
        return [int(number) for number in self.ids.inner_text().split()]


def fill(page, text):
    page.get_by_label("Text to encode").fill(text)
    settle(page)
