"""Plausible wrong answers to the exercises of *Chat templates*."""

from bpelab.exercises.chapters.chat_templates import chatml_ids
from bpelab.exercises.chapters.special_tokens import encode_special


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


def all_by_encode_special(tokenizer, special, messages):
    text = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
    return encode_special(tokenizer, special, text + "<|im_start|>assistant\n")


def parts_apart(tokenizer, special, messages):
    ids = []
    for message in messages:
        ids += encode_special(tokenizer, special, f"<|im_start|>{message['role']}\n")
        ids += tokenizer.encode(message["content"]) + encode_special(tokenizer, special, "<|im_end|>\n")
    return ids + encode_special(tokenizer, special, "<|im_start|>assistant\n")


def role_trusted(tokenizer, special, messages):
    ids = []
    for message in messages:
        ids += encode_special(tokenizer, special, f"<|im_start|>{message['role']}")
        ids += tokenizer.encode("\n" + message["content"]) + encode_special(tokenizer, special, "<|im_end|>\n")
    return ids + encode_special(tokenizer, special, "<|im_start|>assistant\n")


def nobody_asked(tokenizer, special, messages):
    whole = chatml_ids(tokenizer, special, messages)
    return whole[: -len(encode_special(tokenizer, special, "<|im_start|>assistant\n"))]


WRONG = {
    "chat_templates.1": [everything_allowed, filtered, header_by_itself, no_newline_at_the_end],
    "chat_templates.2": [without_the_end, by_the_length_of_the_header, the_header_too],
    "chat_templates.3": [one_too_careful, without_reserve, the_last_one_too, newest_first],
    "chat_templates.4": [all_by_encode_special, parts_apart, role_trusted, nobody_asked],
}
