"""Plausible wrong answers to the exercises of *Special tokens*."""

import re


def in_the_order_of_the_list(text, names):
    return [(match.start(), match[0]) for match in re.finditer("|".join(map(re.escape, names)), text)]


def longest_name_first(text, names):
    found = []
    for name in sorted(names, key=len, reverse=True):
        found += [(match.start(), name) for match in re.finditer(re.escape(name), text)]
        text = text.replace(name, "\0" * len(name))
    return sorted(found)


def overlapping(text, names):
    found = []
    for position in range(len(text)):
        if here := [name for name in names if text.startswith(name, position)]:
            found.append((position, max(here, key=len)))
    return found


def as_it_is(names, target):
    return target


def twice(names, target):
    return target + target


def with_a_space(names, target):
    return target[:3] + " " + target[3:]


def everything_allowed(tokenizer, messages):
    text = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
    return tokenizer.encode(text, allowed_special="all")


def filtered(tokenizer, messages):
    text = ""
    for message in messages:
        content = message["content"].replace("<|im_end|>", "").replace("<|im_start|>", "")
        text += f"<|im_start|>{message['role']}\n{content}<|im_end|>\n"
    return tokenizer.encode(text, allowed_special="all")


def header_by_itself(tokenizer, messages):
    start, end = tokenizer.special_tokens.values()
    ids = []
    for message in messages:
        ids += [start, *tokenizer.encode(message["role"] + "\n"), *tokenizer.encode(message["content"]), end]
        ids += tokenizer.encode("\n")
    return ids


def no_newline_at_the_end(tokenizer, messages):
    start, end = tokenizer.special_tokens.values()
    ids = []
    for message in messages:
        ids += [start, *tokenizer.encode(message["role"] + "\n" + message["content"]), end]
    return ids


def without_the_end(tokenizer, messages):
    mask = []
    for message in messages:
        header, said = message["role"] + "\n", message["role"] == "assistant"
        _, places = tokenizer.encode_with_offsets(header + message["content"])
        mask += [0, *(int(said and end > len(header)) for _, end in places), 0, 0]
    return mask


def by_the_length_of_the_header(tokenizer, messages):
    mask = []
    for message in messages:
        header, said = message["role"] + "\n", int(message["role"] == "assistant")
        first = len(tokenizer.encode(header))
        rest = len(tokenizer.encode(header + message["content"])) - first
        mask += [0, *[0] * first, *[said] * rest, said, 0]
    return mask


def the_header_too(tokenizer, messages):
    mask = []
    for message in messages:
        said = int(message["role"] == "assistant")
        ids = tokenizer.encode(message["role"] + "\n" + message["content"])
        mask += [0, *[said] * len(ids), said, 0]
    return mask


def one_too_careful(turns, always, max_tokens, reserve):
    return next((n for n in range(len(turns)) if sum(turns[n:]) < max_tokens - reserve - always), None)


def without_reserve(turns, always, max_tokens, reserve):
    return next((n for n in range(len(turns)) if sum(turns[n:]) + always <= max_tokens), None)


def the_last_one_too(turns, always, max_tokens, reserve):
    return next((n for n in range(len(turns) + 1) if sum(turns[n:]) <= max_tokens - reserve - always), None)


def newest_first(turns, always, max_tokens, reserve):
    room = max_tokens - reserve - always
    return next((n for n in range(len(turns)) if sum(turns[: len(turns) - n]) <= room), None)


def shortest_name_first(tokenizer, special, text):
    for name in sorted(special, key=len):
        head, found, tail = text.partition(name)
        if found:
            rest = {other: value for other, value in special.items() if other != name}
            inner = shortest_name_first(tokenizer, rest, head)
            return [*inner, special[name], *shortest_name_first(tokenizer, special, tail)]
    return tokenizer.encode(text)


def unescaped(tokenizer, special, text):
    if not special:
        return tokenizer.encode(text)
    ids = []
    for part in re.split("(" + "|".join(special) + ")", text):
        ids += [special[part]] if part in special else tokenizer.encode(part or "")
    return ids


WRONG = {
    "special_tokens.1": [in_the_order_of_the_list, longest_name_first, overlapping],
    "special_tokens.2": [as_it_is, twice, with_a_space],
    "special_tokens.3": [everything_allowed, filtered, header_by_itself, no_newline_at_the_end],
    "special_tokens.4": [without_the_end, by_the_length_of_the_header, the_header_too],
    "special_tokens.5": [one_too_careful, without_reserve, the_last_one_too, newest_first],
    "special_tokens.6": [shortest_name_first, unescaped],
}
