"""Plausible wrong answers to the exercises of *The ids that were never yours*."""


def position_by_position(tokens, ids, other):
    return [([a], [b]) for a, b in zip(ids, other) if a != b]


def from_the_first_to_the_end(tokens, ids, other):
    for place, (a, b) in enumerate(zip(ids, other)):
        if a != b:
            return [(ids[place:], other[place:])]
    return []


def with_equal_ones(tokens, ids, other):
    runs, done, other_done, at, other_at = [], 0, 0, 0, 0
    start = other_start = 0
    while at < len(ids) or other_at < len(other):
        if done <= other_done:
            done += len(tokens[ids[at]])
            at += 1
        else:
            other_done += len(tokens[other[other_at]])
            other_at += 1
        if done == other_done:
            runs.append((ids[start:at], other[other_start:other_at]))
            start, other_start = at, other_at
    return runs


def without_the_prompt(render, messages):
    for n in range(1, len(messages)):
        before, after = render(messages[:n], False), render(messages[: n + 1], False)
        for place, (a, b) in enumerate(zip(before, after)):
            if a != b:
                return n, place
    return None


def only_the_last(render, messages):
    if len(messages) < 2:
        return None
    before, after = render(messages[:-1], messages[-1]["role"] == "assistant"), render(messages, False)
    for place, (a, b) in enumerate(zip(before, after)):
        if a != b:
            return len(messages) - 1, place
    return None


def always_prompted(render, messages):
    for n in range(1, len(messages)):
        before, after = render(messages[:n], True), render(messages[: n + 1], False)
        for place, (a, b) in enumerate(zip(before, after)):
            if a != b:
                return n, place
    return None


def _added(tokenizer, question):
    start, end = tokenizer.token_to_id("<|im_start|>"), tokenizer.token_to_id("<|im_end|>")
    added = [*tokenizer.encode("\n"), start, *tokenizer.encode("user\n" + question), end]
    return [*added, *tokenizer.encode("\n"), start, *tokenizer.encode("assistant\n")]


def another_end(tokenizer, ids, mask, question):
    added = [tokenizer.token_to_id("<|im_end|>"), *_added(tokenizer, question)]
    return ids + added, mask + [0] * len(added)


def no_end_for_what_was_cut_off(tokenizer, ids, mask, question):
    added = _added(tokenizer, question)
    return ids + added, mask + [0] * len(added)


def through_the_text(tokenizer, ids, mask, question):
    end = tokenizer.token_to_id("<|im_end|>")
    head = tokenizer.encode(tokenizer.decode(ids), allowed_special="all") + [end] * (ids[-1] != end)
    added = _added(tokenizer, question)
    return head + added, mask + [0] * (len(head) + len(added) - len(mask))


def every_name_allowed(tokenizer, ids, mask, question):
    end = tokenizer.token_to_id("<|im_end|>")
    text = f"\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    added = [end] * (ids[-1] != end) + tokenizer.encode(text, allowed_special="all")
    return ids + added, mask + [0] * len(added)


WRONG = {
    "drift.1": [position_by_position, from_the_first_to_the_end, with_equal_ones],
    "drift.2": [without_the_prompt, only_the_last, always_prompted],
    "drift.3": [another_end, no_end_for_what_was_cut_off, through_the_text, every_name_allowed],
}
