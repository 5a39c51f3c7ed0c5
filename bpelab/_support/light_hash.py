"""SHA-256 without OpenSSL, whose libraries take 4 ms to load: as long as all other imports for a first text.

Python has its own implementation, which `hashlib` falls back on. It needs 4 ns a byte and OpenSSL's needs 1, so large
data goes to OpenSSL.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGE = 1 << 21
"""The size in bytes from which loading OpenSSL pays off."""


def sha256(*parts: bytes | memoryview) -> bytes:
    """Return the 32-byte digest of the concatenated parts.

    >>> sha256(b"lo", b"w").hex()[:16]
    '6c1ff09db3a73dc4'
    """
    digest = (_light if sum(map(len, parts)) < LARGE else _openssl)()
    for part in parts:
        digest.update(part)
    result: bytes = digest.digest()
    return result


def _light() -> Any:
    # The standard library's own, which hashlib uses without OpenSSL; a Python may be built without it.
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256  # type: ignore[import-not-found]
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        return _openssl()
    return sha256()


def _openssl() -> Any:
    from hashlib import sha256

    return sha256()
