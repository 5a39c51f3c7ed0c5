"""Interactive figures, alive in Jupyter and in the book's pages, and a still on paper.

Each figure is an `anywidget` that draws what the library's own traces and tokenizers say, computed in Python. In a
rendered page its data stands in the page as JSON and the same front-end code draws it, with no kernel and no network;
`bpelab.widgets.sphinx` is the extension that serves this code.

The classes are loaded when first used, and anywidget with them.
"""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .base import Figure as Figure
    from .byte_inspector import ByteInspector as ByteInspector
    from .chat_box import ChatBox as ChatBox
    from .cost_calculator import CostCalculator as CostCalculator
    from .heap_stepper import HeapStepper as HeapStepper
    from .merge_player import MergePlayer as MergePlayer
    from .pre_token_view import PreTokenView as PreTokenView
    from .stream_buffer import StreamBuffer as StreamBuffer
    from .sweep import Sweep as Sweep
    from .template_inspector import TemplateInspector as TemplateInspector
    from .token_view import TokenView as TokenView
    from .train_scrubber import TrainScrubber as TrainScrubber
    from .trie_walker import TrieWalker as TrieWalker

_HOMES = {
    "ByteInspector": "byte_inspector",
    "ChatBox": "chat_box",
    "CostCalculator": "cost_calculator",
    "Figure": "base",
    "HeapStepper": "heap_stepper",
    "MergePlayer": "merge_player",
    "PreTokenView": "pre_token_view",
    "StreamBuffer": "stream_buffer",
    "Sweep": "sweep",
    "TemplateInspector": "template_inspector",
    "TokenView": "token_view",
    "TrainScrubber": "train_scrubber",
    "TrieWalker": "trie_walker",
}

__all__ = list(_HOMES)
__getattr__, __dir__ = lazily(_HOMES, globals())
