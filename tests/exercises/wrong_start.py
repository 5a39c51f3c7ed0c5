"""Plausible wrong answers to the exercises of *How to use this book*."""


def words(tokenizer, text):
    return len(text.split())


def bytes_of_the_text(tokenizer, text):
    return len(text.encode())


def last_of_the_longest(tokenizer, text):
    return sorted(tokenizer.tokenize(text), key=len)[-1]


def longest_of_all(tokenizer, text):
    return max(tokenizer.model.ids, key=len)


def most_characters(tokenizer, text):
    return max(tokenizer.tokenize(text), key=lambda token: len(token.decode(errors="replace")))


def high_bytes(tokenizer, text):
    return [i for i in tokenizer.encode(text) if 128 <= i < 256]


def not_ascii(tokenizer, text):
    return [i for i in tokenizer.encode(text) if not tokenizer.decode([i]).isascii()]


def shows_a_replacement(tokenizer, text):
    return [i for i in tokenizer.encode(text) if "\ufffd" in tokenizer.decode([i])]


def each_once(tokenizer, text):
    return sorted(set(shows_a_replacement(tokenizer, text)))


WRONG = {
    "start.1": [words, bytes_of_the_text],
    "start.2": [last_of_the_longest, longest_of_all, most_characters],
    "start.3": [shows_a_replacement, not_ascii, each_once, high_bytes],
}
