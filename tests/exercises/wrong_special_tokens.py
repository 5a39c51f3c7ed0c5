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


def inside_itself(names, target):
    middle = len(target) // 2
    return target[:middle] + target + target[middle:]


def in_the_middle(names, target):
    text = target
    for name in reversed(names):
        middle = len(name) // 2
        text = text.replace(name, name[:middle] + name + name[middle:])
    return text


def first_name_first(names, target):
    text = target
    for name in names:
        text = text.replace(name, name[0] + name + name[1:])
    return text


def with_a_space(names, target):
    return target[:3] + " " + target[3:]


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


def one_by_one(tokenizer, special, ids):
    names = {token_id: name for name, token_id in special.items()}
    return "".join(names.get(token_id) or tokenizer.decode([token_id]) for token_id in ids)


def special_tokens_skipped(tokenizer, special, ids):
    return tokenizer.decode([token_id for token_id in ids if token_id not in special.values()])


def up_to_the_first(tokenizer, special, ids):
    names = {token_id: name for name, token_id in special.items()}
    at = next((index for index, token_id in enumerate(ids) if token_id in names), len(ids))
    return tokenizer.decode(ids[:at]) + "".join(names[token_id] for token_id in ids[at:] if token_id in names)


WRONG = {
    "special_tokens.1": [in_the_order_of_the_list, longest_name_first, overlapping],
    "special_tokens.2": [as_it_is, twice, inside_itself, in_the_middle, first_name_first, with_a_space],
    "special_tokens.3": [shortest_name_first, unescaped],
    "special_tokens.4": [one_by_one, special_tokens_skipped, up_to_the_first],
}
