"""Plausible wrong answers to the exercises of *Native code*."""


def never_commits(rows, start):
    return [[(state, "M" * matched + "S" * (state == 0)) for state, matched in row] for row in rows]


def back_to_the_start(rows, start):
    plain = never_commits(rows, start)
    return [[(start, "C") if flags == "MS" else (state, flags) for state, flags in row] for row in plain]


def commits_without_a_match(rows, start):
    made = []
    for row in rows:
        begun = [first for first, _ in rows[start]]
        made.append(
            [
                (begun[kind], "C") if state == 0 and begun[kind] else (state, "M" * matched + "S" * (state == 0))
                for kind, (state, matched) in enumerate(row)
            ]
        )
    return made


def one_way(rows, home, key, find):
    if rows[home, 0] != key:
        rows[home] = key, find(key)
    return int(rows[home, 1])


def free_before_found(rows, home, key, find):
    for row in range(home, home + 4):
        if rows[row, 0] in (0, key):
            if rows[row, 0] == 0:
                rows[row] = key, find(key)
            return int(rows[row, 1])
    return find(key)


def always_asks(rows, home, key, find):
    value = find(key)
    for row in range(home, home + 4):
        if rows[row, 0] in (0, key):
            rows[row] = key, value
            return value
    rows[home + key % 4] = key, value
    return value


def by_neighbours(tokens, piece):
    pairs = {token[i : i + 2] for token in tokens for i in range(len(token) - 1)}
    return [place for place in range(1, len(piece)) if piece[place - 1 : place + 1] not in pairs]


def longest_match(tokens, piece):
    found, start = [], 0
    while start < len(piece):
        ends = [end for end in range(start + 1, len(piece) + 1) if piece[start:end] in tokens]
        start = max(ends, default=start + 1)
        found.append(start)
    return found[:-1]


def in_turn(sizes, threads):
    return [list(range(first, len(sizes), threads)) for first in range(threads)]


def equal_numbers(sizes, threads):
    each = -(-len(sizes) // threads)
    return [list(range(len(sizes)))[each * n : each * (n + 1)] for n in range(threads)]


WRONG = {
    "native.1": [never_commits, back_to_the_start, commits_without_a_match],
    "native.2": [one_way, free_before_found, always_asks],
    "native.3": [by_neighbours, longest_match],
    "native.4": [in_turn, equal_numbers],
}
