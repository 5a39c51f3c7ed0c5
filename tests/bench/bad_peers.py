"""Libraries that do what libraries should not, and a worker that knows them: `python -m tests.bench.bad_peers JOB`."""

import os
import sys
import time
from dataclasses import replace

from bpelab.bench import worker
from bpelab.bench.peers import PEERS

CALLS_OF_A_CHECK = 5


def wrong(encode):
    """Right for short texts; in longer ones the fourth id is another one."""
    return lambda text: [*(ids := encode(text))[:3], ids[3] ^ 1, *ids[4:]] if len(text) > 20 else ids


def wrong_later(encode):
    """Right the first time; wrong when the same text comes back."""
    calls = []

    def later(text):
        calls.append(text)
        ids = encode(text)
        return ids if len(calls) < CALLS_OF_A_CHECK else [*ids, 0]

    return later


class Panic(BaseException):
    """As a panic in Rust arrives in Python."""


def panics(encode):
    def panic(text):
        raise Panic("called `Option::unwrap()` on a `None` value")

    return panic


def hangs(encode):
    return lambda text: time.sleep(600)


def crashes(encode):
    return lambda text: os.abort()


def hoards(encode):
    return lambda text: bytearray(1 << 40)


def chatters(encode):
    """Prints what looks like a worker's own lines."""
    os.write(1, b'{"event": "nonsense"}\nnot even JSON\n')
    return encode


GOOD = PEERS["bpelab (Python)"]
BAD = {
    function.__name__.replace("_", " "): replace(
        GOOD,
        name=function.__name__.replace("_", " "),
        imports=f"{GOOD.imports}\nfrom tests.bench.bad_peers import {function.__name__}",
        calls={"list": f"{function.__name__}(tokenizer.encode)"},
    )
    for function in (wrong, wrong_later, panics, hangs, crashes, hoards, chatters)
}
BAD["absent"] = replace(GOOD, name="absent", package="no-such-package", imports="import no_such_module")

if __name__ == "__main__":
    PEERS.update(BAD)
    worker.main(sys.argv[1])
