"""What masks cost: `PYTHONPATH=. python book/constraints_record.py` writes constraints_record.json.

For each schema, texts are written by a model with random logits under a constraint, with GPT-4's vocabulary; a mask's
time is that of making it and going on by one id. It's the processor's time, since other programs may be running.
llguidance and xgrammar go the same way as the usual mask. They have no canonical mode, as far as was found. Each engine
keeps what it has computed from one text of a schema to the next.

Before anything is timed, the ids that the three usual masks allow are compared, but for ids that spell nothing. What
differs is counted, with the shortest tokens that one has and the other hasn't, and the reasons. Then all start anew,
knowing no schema. The chapter *One byte at a time* shows the record. Needs llguidance, xgrammar, torch and tiktoken;
takes about half a minute.
"""

import gc
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import llguidance
import llguidance.numpy
import llguidance.tiktoken
import numpy as np
import tiktoken
import xgrammar

from bpelab import BPETokenizer
from bpelab.bench.machine import machine
from bpelab.constraints import Constraint
from bpelab.constraints.spellings import spelling_of
from bpelab.prefix.valid_tokens import valid_tokens

RECORD = Path(__file__).with_name("constraints_record.json")
MODES = "canonical", "usual"
WHY = {
    "llguidance": "where only one text can follow, only the token that it makes of this text is allowed; a space may "
    "also come before commas, colons and closing brackets; strings may have \\u with a number, and no 0x7f; years may "
    "begin with 0",
    "xgrammar": "any white space may come around commas, colons and brackets; strings may have \\u with a number and "
    "\\/; with maxLength they have no escapes, but control characters; years may begin with 0, and all months have a "
    "day 31",
}
VOCABULARY, SIZE, TOKENS, TEXTS, SHOWN = "cl100k_base", 100_256, 60, 4, 6
"""The tokens that spell something have the first ids, without gaps."""
SCHEMAS = {
    "a person": {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 30}, "age": {"type": "integer", "minimum": 0}},
        "required": ["name", "age"],
        "additionalProperties": False,
    },
    "a list of tags": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 30},
    "a choice": {"enum": ["positive", "negative", "neutral"]},
    "a date": {"type": "string", "format": "date"},
}


class Engine(NamedTuple):
    """A library that makes masks.

    Attributes:
        begin: makes of a schema what makes matchers.
        mask: makes a matcher's next mask.
        advance: goes on by an id, and returns False for one that isn't allowed.
        ids: returns for each id whether a mask has it.
        once: the seconds that it took before the first schema.
    """

    begin: Callable[[dict[str, Any]], Callable[[], Any]]
    mask: Callable[[Any], Any]
    advance: Callable[[Any, int], object]
    ids: Callable[[Any], Any]
    once: float


def own(canonical: bool) -> Engine:
    """Return this library, after it has made what it makes once for a tokenizer."""
    begun = time.process_time()
    tokenizer = BPETokenizer.from_tiktoken(VOCABULARY)
    matcher = Constraint.regex(tokenizer, "(?s:.*)", canonical=canonical).matcher()
    matcher.allowed()
    matcher.advance(tokenizer.encode("a")[0])
    matcher.allowed()
    return Engine(
        lambda schema: Constraint.json_schema(tokenizer, schema, canonical=canonical).matcher,
        lambda matcher: matcher.allowed(),
        lambda matcher, token: matcher.advance(token),
        lambda mask: np.isin(np.arange(SIZE), mask),
        time.process_time() - begun,
    )


def by_llguidance() -> Engine:
    """Return llguidance, with at most a space where JSON may have white space."""
    begun = time.process_time()
    tokenizer = llguidance.tiktoken.lltokenizer_from_encoding(tiktoken.get_encoding(VOCABULARY))
    mask = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)

    def begin(schema: dict[str, Any]) -> Callable[[], Any]:
        defaults = {"whitespace_pattern": "[ ]?"}
        grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, defaults=defaults)
        return llguidance.LLMatcher(tokenizer, grammar).deep_copy

    def fill(matcher: Any) -> Any:
        llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
        return mask

    return Engine(
        begin,
        fill,
        lambda matcher, token: matcher.consume_token(token),
        in_bits,
        time.process_time() - begun,
    )


def by_xgrammar() -> Engine:
    """Return xgrammar, with at most one character where JSON may have white space."""
    encoding, known = tiktoken.get_encoding(VOCABULARY), BPETokenizer.from_tiktoken(VOCABULARY).model.tokens
    begun = time.process_time()
    tokens = [known.get(token, b"") for token in range(encoding.n_vocab)]
    about = xgrammar.TokenizerInfo(tokens, stop_token_ids=[encoding.eot_token])
    compiler = xgrammar.GrammarCompiler(about, max_threads=1, cache_enabled=False)
    mask = xgrammar.allocate_token_bitmask(1, about.vocab_size)

    def fill(matcher: Any) -> Any:
        matcher.fill_next_token_bitmask(mask)
        return mask.numpy()

    def begin(schema: dict[str, Any]) -> Callable[[], Any]:
        compiled = compiler.compile_json_schema(schema, max_whitespace_cnt=1)
        return lambda: xgrammar.GrammarMatcher(compiled)

    return Engine(
        begin,
        fill,
        lambda matcher, token: matcher.accept_token(token),
        in_bits,
        time.process_time() - begun,
    )


def in_bits(mask: Any) -> Any:
    """Return for each id whether its bit is set."""
    return np.unpackbits(mask.reshape(-1).view(np.uint8), bitorder="little")[:SIZE].astype(bool)


def written(engine: Engine, schema: dict[str, Any], seed: int) -> list[int]:
    """Return random ids under a constraint."""
    rng, matcher, ids = random.Random(seed), engine.begin(schema)(), list[int]()
    while len(ids) < TOKENS and len(allowed := np.flatnonzero(engine.ids(engine.mask(matcher)))):
        ids.append(int(rng.choice(allowed)))
        engine.advance(matcher, ids[-1])
    return ids


def timed(engine: Engine, schema: dict[str, Any], texts: list[list[int]]) -> dict[str, float]:
    """Return what it costs to begin, in milliseconds, and what masks cost along the texts, in microseconds."""
    gc.collect()
    begun = time.process_time()
    start, matcher = engine.begin(schema), None
    first, seconds = time.process_time() - begun, []
    for ids in texts:
        matcher = start()
        for token in ids:
            begun = time.process_time()
            engine.mask(matcher)
            allowed = engine.advance(matcher, token)
            seconds.append(time.process_time() - begun)
            assert allowed is not False, (schema, ids, token)
    shares = {"median": np.median(seconds), "p99": np.quantile(seconds, 0.99), "slowest": max(seconds)}
    found = {name: round(float(value) * 1e6, 1) for name, value in shares.items()}
    return {"begin_ms": round(first * 1e3, 1), **found, "masks": len(seconds)}


def compared(usual: Engine, peer: Engine, schema: dict[str, Any], texts: list[list[int]]) -> dict[str, Any]:
    """Return how many masks along the texts allow the same ids, and the shortest tokens that differ."""
    tokens = BPETokenizer.from_tiktoken(VOCABULARY).model.tokens
    start, other, same, total = usual.begin(schema), peer.begin(schema), 0, 0
    ours, theirs = Counter[bytes](), Counter[bytes]()
    for ids in texts:
        matcher, there = start(), other()
        for token in ids:
            one, two = usual.ids(usual.mask(matcher)), peer.ids(peer.mask(there))
            ours.update(tokens[at] for at in np.flatnonzero(one & ~two).tolist())
            theirs.update(tokens[at] for at in np.flatnonzero(two & ~one).tolist())
            same, total = same + np.array_equal(one, two), total + 1
            usual.advance(matcher, token)
            peer.advance(there, token)
    return {"same": same, "masks": total, "only_bpelab": shortest(ours), "only_peer": shortest(theirs)}


def shortest(tokens: Counter[bytes]) -> list[str]:
    """Return the shortest tokens, those first that were met most."""
    found = sorted(tokens, key=lambda token: (len(token), -tokens[token], token))
    return [repr(token)[2:-1] for token in found[:SHOWN]]


def engines() -> dict[str, Engine]:
    """Return all engines, anew."""
    spelling_of.cache_clear()
    valid_tokens.cache_clear()
    return {"canonical": own(True), "usual": own(False), "llguidance": by_llguidance(), "xgrammar": by_xgrammar()}


def main() -> None:
    """Measure, and write the record."""
    record: dict[str, Any] = {"date": date.today().isoformat(), "machine": machine(), "vocabulary": VOCABULARY}
    record |= {"compared": {}, "why": WHY, "speeds": {}}
    record["versions"] = {name: version(name) for name in (*WHY, "numpy")}
    known, texts = engines(), dict[str, dict[str, list[list[int]]]]()
    for name, schema in SCHEMAS.items():
        texts[name] = {mode: [written(known[mode], schema, seed) for seed in range(TEXTS)] for mode in MODES}
        record["compared"][name] = {
            peer: compared(known["usual"], known[peer], schema, texts[name]["usual"]) for peer in WHY
        }
    anew = engines()
    record["once_ms"] = {name: round(engine.once * 1e3, 1) for name, engine in anew.items()}
    gc.disable()
    for name, schema in SCHEMAS.items():
        record["speeds"][name] = {
            mode: timed(engine, schema, texts[name].get(mode, texts[name]["usual"])) for mode, engine in anew.items()
        }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
