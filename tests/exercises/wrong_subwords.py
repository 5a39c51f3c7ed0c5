"""Plausible wrong answers to the exercises of *Characters, words, subwords*."""


def divides_by_nothing(tokenizer, text):
    return tokenizer.unknown_count(text) / len(tokenizer.encode(text))


def share_of_words(tokenizer, text):
    return tokenizer.unknown_count(text) / max(1, len(text.split()))


def shortest_pieces(word, pieces):
    found = []
    while fitting := [piece for piece in sorted(pieces) if word.startswith(piece)]:
        found.append(min(fitting, key=len))
        word = word[len(found[-1]) :]
    return found, word


def nothing_where_it_fails(word, pieces):
    found, left = [], word
    while fitting := [piece for piece in pieces if left.startswith(piece)]:
        found.append(max(fitting, key=len))
        left = left[len(found[-1]) :]
    return ([], word) if left else (found, "")


def skips_what_does_not_fit(word, pieces):
    found, left = [], ""
    while word:
        fitting = max((piece for piece in pieces if word.startswith(piece)), key=len, default="")
        if fitting:
            found.append(fitting)
        else:
            left += word[0]
        word = word[len(fitting) or 1 :]
    return found, left


def one_token(tokenizer, names):
    return [name for name in names if len(tokenizer.encode(name)) == 1]


def comes_back(tokenizer, names):
    return [name for name in names if tokenizer.decode(tokenizer.encode(name)) == name]


def in_the_vocabulary(tokenizer, names):
    return [name for name in names if name in tokenizer.vocabulary]


WRONG = {
    "subwords.1": [divides_by_nothing, share_of_words],
    "subwords.2": [shortest_pieces, nothing_where_it_fails, skips_what_does_not_fit],
    "subwords.3": [one_token, comes_back, in_the_vocabulary],
}
