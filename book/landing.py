"""What the landing page shows beside its text: a box to type in, a question for the shipped model, and a picture of the
pipeline with real values.

They are made by the library when the book is built, so they can't differ from it. Pages ask for them with the
directives `playground`, `ask` and `pipeline`, see `sphinx_local.py`.
"""

from functools import cache
from html import escape

from bpelab import BPETokenizer
from bpelab.notebook import book_text, passages
from bpelab.widgets import AskModel, Playground
from bpelab.widgets.visible import label_text, visible

PUBLISHED = {
    "GPT-2": "https://huggingface.co/openai-community/gpt2/resolve/main/tokenizer.json",
    "GPT-4 (cl100k)": "https://huggingface.co/Xenova/gpt-4/resolve/main/tokenizer.json",
    "GPT-4o (o200k)": "https://huggingface.co/Xenova/gpt-4o/resolve/main/tokenizer.json",
    "Llama 3": "https://huggingface.co/Xenova/llama-3-tokenizer/resolve/main/tokenizer.json",
    "Qwen 2.5": "https://huggingface.co/Qwen/Qwen2.5-0.5B/resolve/main/tokenizer.json",
    "DeepSeek V3": "https://huggingface.co/deepseek-ai/DeepSeek-V3/resolve/main/tokenizer.json",
}
"""Where the box finds other vocabularies when a reader asks for one. The page names the address before it does."""
FIRST = "How many r are in strawberry?\nHow are you today? आप आज कैसे हैं? 東京 🍓"
"""With it, and the first vocabulary, the box shows what the questions below it say."""
SPECIALS = ["<|im_start|>", "<|im_end|>"]
SMALL, MEDIUM, MIXED = "512 tokens", "2,048 tokens", "2,048 tokens, trained on fifteen more languages"
QUESTION = 'How many r are in "strawberry"?'
COPIES = 20
"""How often the mixed vocabulary's text has the passages in other languages, so that they weigh as much as English."""


@cache
def vocabularies() -> dict[str, BPETokenizer]:
    """Return the three tokenizers of the box by title: trained on the book's text, which takes less than a second."""
    others = "\n\n".join(passages("languages").values())
    trained = {
        MEDIUM: BPETokenizer.train(book_text(), 2048),
        MIXED: BPETokenizer.train([book_text(), *[others] * COPIES], 2048),
        SMALL: BPETokenizer.train(book_text(), 512),
    }
    return {title: tokenizer.with_special_tokens(SPECIALS) for title, tokenizer in trained.items()}


def playground() -> str:
    """Return the box as HTML."""
    return Playground(FIRST, vocabularies(), published=PUBLISHED).static_html()


def ask() -> str:
    """Return the question that the shipped model gets wrong, with a button, as HTML."""
    return AskModel(QUESTION).static_html()


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
        ("embedding", "language_model", "one vector for each id"),
        ("language model", "language_model", "a probability for every next id"),
        ("ids", "streaming", "one more, and again"),
        ("text", "streaming", tokenizer.decode(ids)),
    ]
    assert tokenizer.decode(ids) == normal
    items = "\n".join(
        f'<li><a href="{page}.html"><strong>{name}</strong><span>{escape(value)}</span></a></li>'
        for name, page, value in steps
    )
    return f'<ol class="pipeline" aria-label="The road of a text through a language model">\n{items}\n</ol>'
