"""minbpe's classes on bpelab's. Its own test file, where a copy is at hand, imports this module as `minbpe`."""

from bpelab import BPEModel, BPETokenizer
from bpelab.convert import convert


class BasicTokenizer:
    """Without a pattern: the text is one piece."""

    pattern = None

    def __init__(self):
        self.tokenizer = BPETokenizer(BPEModel.from_merges([]), pattern=self.pattern)

    def train(self, text, vocab_size, verbose=False):
        options = {"pattern": self.pattern, "ties": "minbpe", "min_frequency": 1}
        self.tokenizer = BPETokenizer.train(text, vocab_size, **options)

    def register_special_tokens(self, special_tokens):
        self.tokenizer = self.tokenizer.with_special_tokens(special_tokens)

    def encode(self, text, allowed_special="none_raise"):
        if allowed_special == "none_raise":
            return self.tokenizer.encode(text, disallowed_special="all")
        return self.tokenizer.encode(text, allowed_special=() if allowed_special == "none" else allowed_special)

    def decode(self, ids):
        return self.tokenizer.decode(ids)

    def save(self, file_prefix):
        """Write both files of minbpe's: the model, and the listing of its tokens that people read."""
        convert(self.tokenizer, f"{file_prefix}.model", "minbpe")

    def load(self, model_file):
        self.tokenizer = BPETokenizer.from_pretrained(model_file)


class RegexTokenizer(BasicTokenizer):
    """With GPT-4's pattern."""

    pattern = "cl100k"


RegexTokenizerFast = RegexTokenizer
"""A class of a fork, which its test file imports."""


class GPT4Tokenizer(RegexTokenizer):
    """GPT-4's own vocabulary."""

    def __init__(self):
        self.tokenizer = BPETokenizer.from_tiktoken("cl100k_base")
