"""Plausible wrong answers to the exercises of *A tokenizer in production*."""

import json
from hashlib import sha256


def all_at_once(chunks, limit):
    data = b"".join(chunks)
    try:
        return data.decode() if len(data) <= limit else None
    except UnicodeDecodeError:
        return None


def in_characters(chunks, limit):
    text = ""
    for chunk in chunks:
        text += chunk.decode("utf-8", "replace")
        if len(text) > limit:
            return None
    return text


def refused_at_the_limit(chunks, limit):
    data = b""
    for chunk in chunks:
        data += chunk
        if len(data) >= limit:
            return None
    return data.decode()


def cut_to_fit(chunks, limit):
    return b"".join(chunks)[:limit].decode("utf-8", "ignore")


def the_largest(milliseconds, per_second, patience):
    return max((size for size, call in milliseconds.items() if call <= patience), default=None)


def only_the_call(milliseconds, per_second, patience):
    sizes = [size for size, call in milliseconds.items() if call <= patience and call <= size * 1000 / per_second]
    return min(sizes, key=lambda size: (milliseconds[size] / size, size), default=None)


def falls_behind(milliseconds, per_second, patience):
    wait = 1000 / per_second
    sizes = [size for size, call in milliseconds.items() if (size - 1) * wait + call <= patience]
    return min(sizes, key=lambda size: (milliseconds[size] / size, size), default=None)


def waits_for_one_more(milliseconds, per_second, patience):
    wait = 1000 / per_second
    sizes = [size for size, call in milliseconds.items() if size * wait + call <= patience and call <= size * wait]
    return min(sizes, key=lambda size: (milliseconds[size] / size, size), default=None)


def reads_twice(read, pinned):
    return json.loads(read()) if sha256(read()).hexdigest() == pinned else None


def parses_first(read, pinned):
    data = read()
    found = json.loads(data)
    return found if sha256(data).hexdigest() == pinned else None


def the_first_sixteen(read, pinned):
    data = read()
    return json.loads(data) if sha256(data).hexdigest()[:16] == pinned[:16] else None


def whole_objects(objects, touched, page):
    return sum(objects[number][1] for number in set(touched))


def a_page_each(objects, touched, page):
    return page * len(touched)


def first_byte_only(objects, touched, page):
    return page * len({objects[number][0] // page for number in touched})


def every_page_of_an_object(objects, touched, page):
    pages = set()
    for number in touched:
        address, size = objects[number]
        pages.update(range(address // page, (address + size - 1) // page + 1))
    return page * len(pages)


WRONG = {
    "production.1": [all_at_once, in_characters, refused_at_the_limit, cut_to_fit],
    "production.2": [the_largest, only_the_call, falls_behind, waits_for_one_more],
    "production.3": [reads_twice, parses_first, the_first_sixteen],
    "production.4": [whole_objects, a_page_each, first_byte_only, every_page_of_an_object],
}
