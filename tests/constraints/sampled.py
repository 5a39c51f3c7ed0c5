"""Texts that a model with random logits writes under a constraint."""

import random


def sampled(constraint, rng: random.Random, after: int = 60) -> list[int]:
    """Random ids until the text ends. After some, the way to the nearest end is taken, so that it comes."""
    matcher, ids, finishing = constraint.matcher(), [], constraint._product.finishing
    while True:
        allowed = matcher.allowed().tolist()
        if matcher.can_end and (not allowed or len(ids) > after or rng.random() < 0.3):
            return ids
        assert allowed, "a dead end"
        if len(ids) > after:
            tokens = constraint.tokenizer.model.tokens
            distance = {
                token: finishing.distance(finishing.texts.read_all(matcher._text, tokens[token])) for token in allowed
            }
            allowed = [token for token in allowed if distance[token] == min(distance.values())]
        ids.append(rng.choice(allowed))
        matcher.advance(ids[-1])
