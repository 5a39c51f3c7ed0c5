"""Libraries that do what libraries should not, and a worker that knows them: `python -m tests.bench.bad_peers JOB`."""

import os
import sys
import time
from typing import ClassVar

from bpelab.bench import worker
from bpelab.bench.peers import PEERS
from bpelab.bench.peers.ours import BpelabPython


class Wrong(BpelabPython):
    """Right for short texts; in longer ones the fourth id is another one."""

    name = "wrong"

    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        encode = self.encode_list
        self.encode_list = lambda text: [*(ids := encode(text))[:3], ids[3] ^ 1, *ids[4:]] if len(text) > 20 else ids


class WrongLater(BpelabPython):
    """Right the first time; wrong when the same text comes back."""

    name = "wrong later"

    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        encode, calls = self.encode_list, []

        def later(text):
            calls.append(text)
            ids = encode(text)
            return ids if len(calls) < CALLS_OF_A_CHECK else [*ids, 0]

        self.encode_list = later


CALLS_OF_A_CHECK = 5


class Panic(BaseException):
    """As a panic in Rust arrives in Python."""


class Panics(BpelabPython):
    name = "panics"

    def __init__(self, vocabulary):
        super().__init__(vocabulary)

        def encode(text):
            raise Panic("called `Option::unwrap()` on a `None` value")

        self.encode_list = encode


class Hangs(BpelabPython):
    name = "hangs"

    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        self.encode_list = lambda text: time.sleep(600)


class Crashes(BpelabPython):
    name = "crashes"

    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        self.encode_list = lambda text: os.abort()


class Hoards(BpelabPython):
    name = "hoards"

    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        self.encode_list = lambda text: bytearray(1 << 40)


class Chatters(BpelabPython):
    """Prints what looks like a worker's own lines."""

    name = "chatters"

    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        os.write(1, b'{"event": "nonsense"}\nnot even JSON\n')


class Absent(BpelabPython):
    name, package, module = "absent", "no-such-package", "no_such_module"
    requires: ClassVar = ()


BAD = {peer.name: peer for peer in (Wrong, WrongLater, Panics, Hangs, Crashes, Hoards, Chatters, Absent)}

if __name__ == "__main__":
    PEERS.update(BAD)
    worker.main(sys.argv[1])
