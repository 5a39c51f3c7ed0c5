"""Plausible wrong answers to the exercises of *Chat templates*."""


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


WRONG = {
    "chat_templates.1": [everything_allowed, filtered, header_by_itself, no_newline_at_the_end],
    "chat_templates.2": [without_the_end, by_the_length_of_the_header, the_header_too],
    "chat_templates.3": [one_too_careful, without_reserve, the_last_one_too, newest_first],
}
