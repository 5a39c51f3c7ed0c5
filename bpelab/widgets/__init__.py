"""Interactive figures: live in Jupyter and on the book's pages, static on paper.

Each figure is an `anywidget` that draws the library's own traces and tokens, computed in Python. A rendered page
contains its data as JSON and draws it with the same front-end code, without a kernel or the network;
`bpelab.widgets.sphinx` is the extension that serves this code. Some figures compute a reader's own text on a page, too:
with the library in JavaScript, if `trained_data.py` can hold their tokenizers.

The classes, and anywidget, are loaded on first use. This package may import the library. Begin with `base.py`.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from .ask_model import AskModel as AskModel
    from .base import Figure as Figure
    from .batch_sizes import BatchSizes as BatchSizes
    from .byte_inspector import ByteInspector as ByteInspector
    from .cache_stepper import CacheStepper as CacheStepper
    from .chat_box import ChatBox as ChatBox
    from .claim_table import ClaimTable as ClaimTable
    from .cluster_stepper import ClusterStepper as ClusterStepper
    from .cost_calculator import CostCalculator as CostCalculator
    from .cover_tree import CoverTree as CoverTree
    from .heap_stepper import HeapStepper as HeapStepper
    from .longest_match import LongestMatch as LongestMatch
    from .mask_stepper import MaskStepper as MaskStepper
    from .merge_player import MergePlayer as MergePlayer
    from .model_view import ModelView as ModelView
    from .playground import Playground as Playground
    from .pre_token_view import PreTokenView as PreTokenView
    from .reachable_tokens import ReachableTokens as ReachableTokens
    from .running_example import RunningExample as RunningExample
    from .stream_buffer import StreamBuffer as StreamBuffer
    from .sweep import Sweep as Sweep
    from .template_inspector import TemplateInspector as TemplateInspector
    from .token_view import TokenView as TokenView
    from .train_scrubber import TrainScrubber as TrainScrubber
    from .transition_point import TransitionPoint as TransitionPoint
    from .trie_walker import TrieWalker as TrieWalker

_MODULES = {
    "AskModel": "ask_model",
    "BatchSizes": "batch_sizes",
    "ByteInspector": "byte_inspector",
    "CacheStepper": "cache_stepper",
    "ChatBox": "chat_box",
    "ClaimTable": "claim_table",
    "ClusterStepper": "cluster_stepper",
    "CostCalculator": "cost_calculator",
    "CoverTree": "cover_tree",
    "Figure": "base",
    "HeapStepper": "heap_stepper",
    "LongestMatch": "longest_match",
    "MaskStepper": "mask_stepper",
    "MergePlayer": "merge_player",
    "ModelView": "model_view",
    "Playground": "playground",
    "PreTokenView": "pre_token_view",
    "ReachableTokens": "reachable_tokens",
    "RunningExample": "running_example",
    "StreamBuffer": "stream_buffer",
    "Sweep": "sweep",
    "TemplateInspector": "template_inspector",
    "TokenView": "token_view",
    "TrainScrubber": "train_scrubber",
    "TransitionPoint": "transition_point",
    "TrieWalker": "trie_walker",
}

__all__ = list(_MODULES)
__getattr__, __dir__ = lazy_attributes(_MODULES, globals())
