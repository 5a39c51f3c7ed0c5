"""What the landing page shows beside its text: a box to type in, and a picture of the pipeline with real values.

Both are made by the library when the book is built, so they can't differ from it. Pages ask for them with the
directives `playground` and `pipeline`, see `sphinx_local.py`.
"""

from functools import cache
from html import escape

from bpelab import BPETokenizer
from bpelab.notebook import book_text, passages
from bpelab.widgets import Playground
from bpelab.widgets.visible import label_text, visible

FIRST = "Type here! strawberry, Überraschung, नमस्ते, 東京 🍓"
SPECIALS = ["<|im_start|>", "<|im_end|>"]
SMALL, MEDIUM, MIXED = "512 tokens", "2,048 tokens", "2,048 tokens, trained on fifteen more languages"
COPIES = 20
"""How often the mixed vocabulary's text has the passages in other languages, so that they weigh as much as English."""


@cache
def vocabularies() -> dict[str, BPETokenizer]:
    """Return the three tokenizers of the box by title: trained on the book's text, which takes less than a second."""
    others = "\n\n".join(passages("languages").values())
    trained = {
        SMALL: BPETokenizer.train(book_text(), 512),
        MEDIUM: BPETokenizer.train(book_text(), 2048),
        MIXED: BPETokenizer.train([book_text(), *[others] * COPIES], 2048),
    }
    return {title: tokenizer.with_special_tokens(SPECIALS) for title, tokenizer in trained.items()}


def playground() -> str:
    """Return the box as HTML."""
    return Playground(FIRST, vocabularies()).static_html()


def pipeline(text: str = "Cafe\u0301s open late") -> str:
    """Return the road of `text` to ids and back as HTML: an ordered list of links to chapters, each with its value."""
    tokenizer = vocabularies()[MIXED].with_options(normalizer="NFC")
    normal = tokenizer.spec.normalizer(text)
    pieces = tokenizer.pieces(text)
    tokens = tokenizer.tokenize(text)
    ids = tokenizer.encode(text)
    all_ids = [tokenizer.token_to_id(SPECIALS[0]), *ids, tokenizer.token_to_id(SPECIALS[1])]
    added = [SPECIALS[0], *(label_text(visible(token)) for token in tokens), SPECIALS[1]]
    steps = [
        ("text", "bytes", f"{text} ({len(text)} code points)"),
        ("normalizer", "regex", f"{normal} ({len(normal)} code points)"),
        ("pre-tokenizer", "regex", " | ".join(piece.replace(" ", "·") for piece in pieces)),
        ("model: merges", "encoding", " | ".join(added[1:-1])),
        ("post-processor", "chat_templates", " | ".join([added[0], "…", added[-1]])),
        ("ids", "tiktoken", " ".join(map(str, all_ids))),
        ("embedding", "chat", "one vector for each id"),
        ("language model", "chat", "a probability for every next id"),
        ("ids", "streaming", "one more, and again"),
        ("text", "streaming", tokenizer.decode(ids)),
    ]
    assert tokenizer.decode(ids) == normal
    items = "\n".join(
        f'<li><a href="{page}.html"><strong>{name}</strong><span>{escape(value)}</span></a></li>'
        for name, page, value in steps
    )
    return f'<ol class="pipeline" aria-label="The road of a text through a language model">\n{items}\n</ol>'
