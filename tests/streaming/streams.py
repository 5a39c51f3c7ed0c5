"""What the tests of streams share: cutting texts and ids, and running them through a stream."""

import random
from collections.abc import Sequence
from typing import Any

from bpelab import BPELabError, BPETokenizer, StreamDecoder, StreamEncoder


def cut(rng: random.Random, items: Sequence[Any], longest: int | None = None) -> list[Any]:
    """`items`, a text or a list, in parts of random lengths; some are empty."""
    parts, at = [], 0
    longest = longest or rng.choice((1, 2, 3, 8, 40))
    while at < len(items):
        size = rng.randint(0 if rng.random() < 0.05 else 1, longest)
        parts.append(items[at : at + size])
        at += size
    return parts


def options(rng: random.Random) -> dict[str, Any]:
    """Options of `encode`."""
    chosen = {"allowed_special": rng.choice(("all", ())), "add_special_tokens": rng.random() < 0.5}
    return chosen | {"disallowed_special": "all"} if rng.random() < 0.1 else chosen


def outcome(run: Any) -> Any:
    """What `run` returns, or the error it raises, as text."""
    try:
        return run()
    except BPELabError as error:
        return f"{type(error).__name__}: {error}"


def check_encoding(tokenizer: BPETokenizer, rng: random.Random, text: str, **chosen: Any) -> None:
    """The stream's ids are those of the whole text, and so are its errors."""
    parts, encoder = cut(rng, text), StreamEncoder(tokenizer, **chosen)
    got = outcome(lambda: [token_id for ids in encoder.stream(parts) for token_id in ids])
    assert got == outcome(lambda: tokenizer.encode(text, **chosen)), (parts, chosen)


def check_decoding(tokenizer: BPETokenizer, rng: random.Random, ids: list[int], skip: bool = False) -> None:
    """The stream's text is that of all ids, one at a time or several."""
    decoder = StreamDecoder(tokenizer, skip_special_tokens=skip)
    whole = tokenizer.decode(ids, skip_special_tokens=skip)
    assert "".join(decoder.stream(ids)) == whole, ids
    assert "".join(decoder.stream(cut(rng, ids, 5))) == whole, ids
