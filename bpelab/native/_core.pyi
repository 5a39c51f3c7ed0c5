"""The extension's types; module.c has the rest."""

from typing import Any

class Encoder:
    def __init__(
        self,
        content: bytes,
        starts: Any,
        ids: Any,
        byte_tokens: Any,
        letters: int,
        merges: tuple[Any, Any, bool] | None,
        whole: bool,
        scan: tuple[Any, ...],
    ) -> None: ...
    def encode(self, text: str, /) -> list[int] | None: ...
    def encode_array(self, text: str, /) -> bytearray | None: ...
    def encode_texts(self, texts: list[str], /) -> tuple[bytearray, bytearray] | None: ...
    def lists(self, ids: bytearray, stops: bytearray, /) -> list[list[int]]: ...
    def encode_piece(self, piece: bytes, /) -> list[int]: ...
