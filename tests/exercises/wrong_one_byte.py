"""Plausible wrong answers to the exercises of *One byte at a time*."""

from itertools import product


def same_text(tokenizer, ids):
    return tokenizer.decode(tokenizer.encode(tokenizer.decode(ids))) == tokenizer.decode(ids)


def with_broken_characters(tokenizer, ids):
    data = b"".join(tokenizer.model.tokens[number] for number in ids)
    return tokenizer.encode(data.decode(errors="ignore")) == ids or len(ids) < 2


def no_merge_is_left(tokenizer, ids):
    pairs = tokenizer.model.merges
    return not any(pair in pairs for pair in zip(ids, ids[1:]))


def with_the_longest_tail_alone(tokenize, prompt, letters, more):
    covers = set()
    for tail in product(letters, repeat=more):
        cover = []
        for token in tokenize(prompt + "".join(tail)):
            cover.append(token)
            if len(b"".join(cover)) >= len(prompt.encode()):
                break
        covers.add(tuple(cover))
    return covers


def counted_in_characters(tokenize, prompt, letters, more):
    covers = set()
    for size in range(more + 1):
        for tail in product(letters, repeat=size):
            cover, reached = [], 0
            for token in tokenize(prompt + "".join(tail)):
                cover.append(token)
                reached += len(token)
                if reached >= len(prompt):
                    break
            covers.add(tuple(cover))
    return covers


def whole_encodings(tokenize, prompt, letters, more):
    tails = (tail for size in range(more + 1) for tail in product(letters, repeat=size))
    return {tuple(tokenize(prompt + "".join(tail))) for tail in tails}


def joint(begins, prompt, letters):
    return {letter: begins(prompt + letter) for letter in letters if begins(prompt + letter)}


def without_the_end(begins, prompt, letters):
    found = {letter: begins(prompt + letter) for letter in letters}
    return {letter: share / sum(found.values()) for letter, share in found.items() if share}


def with_zeros(begins, prompt, letters):
    return {letter: begins(prompt + letter) / begins(prompt) for letter in letters}


def other_beginnings(tokenizer, prompt):
    kept = tokenizer.encode(prompt)[:-1]
    return [cover for cover in tokenizer.covers(prompt) if cover[: len(kept)] != kept]


def other_last_tokens(tokenizer, prompt):
    tokens, dropped = tokenizer.model.tokens, tokenizer.encode(prompt)[-1]
    return [cover for cover in tokenizer.covers(prompt) if not tokens[cover[-1]].startswith(tokens[dropped])]


def not_the_encoding(tokenizer, prompt):
    return [cover for cover in tokenizer.covers(prompt) if cover != tokenizer.encode(prompt)]


def always_any_spelling(tokenizer, choices, ids, canonical):
    tokens = tokenizer.model.tokens
    written = b"".join(tokens[number] for number in ids)
    rests = [choice.encode()[len(written) :] for choice in choices if choice.encode().startswith(written)]
    return [number for number, token in sorted(tokens.items()) if any(rest.startswith(token) for rest in rests)]


def encoded_apart(tokenizer, choices, ids, canonical):
    tokens, text = tokenizer.model.tokens, tokenizer.decode(ids)
    rests = [choice.removeprefix(text) for choice in choices if choice.startswith(text) and choice != text]
    if canonical:
        return sorted({tokenizer.encode(rest)[0] for rest in rests})
    return [
        number for number, token in sorted(tokens.items()) if any(rest.encode().startswith(token) for rest in rests)
    ]


def of_texts(tokenizer, choices, ids, canonical):
    if canonical:
        rows = [tokenizer.encode(choice) for choice in choices]
        return sorted({row[len(ids)] for row in rows if len(row) > len(ids) and row[: len(ids)] == ids})
    text = tokenizer.decode(ids)
    names = {number: tokenizer.decode([number]) for number in tokenizer.model.tokens}
    return sorted(n for n, name in names.items() if any(choice.startswith(text + name) for choice in choices))


WRONG = {
    "one_byte.1": [same_text, with_broken_characters, no_merge_is_left],
    "one_byte.2": [with_the_longest_tail_alone, counted_in_characters, whole_encodings],
    "one_byte.3": [joint, without_the_end, with_zeros],
    "one_byte.4": [other_beginnings, other_last_tokens, not_the_encoding],
    "one_byte.5": [always_any_spelling, encoded_apart, of_texts],
}
