"""The tokenizer: normalizer -> special tokens -> pre-tokenizer -> encoder -> post-processor, and back.

`BPETokenizer` ties the parts together and adds no algorithm of its own. It can't be changed after it is made, so one
object can serve many threads; what "changes" it returns a new one.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import limits
from .cache import CacheStatistics, PieceCache
from .encoders import make_encoder
from .errors import SpecialTokenError
from .model import BPEModel
from .normalizers import UnicodeNormalizer, find_normalizer
from .postprocessors import TemplateProcessing
from .pretokenizers.safe_cuts import safe_parts
from .pretokenizers.split import Split
from .special_tokens import Special, SpecialTokens
from .textio import valid_text
from .trainers.corpus import Corpus
from .trainers.learn import learn
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    import tiktoken

CACHE_ENTRIES = 1 << 16


class BPETokenizer(Vocabulary):
    """A byte-level BPE tokenizer. Make one with `train`, `from_pretrained` or `from_tiktoken`.

    Args:
        model: tokens and merges.
        pattern: a named pattern ("gpt2", "cl100k", "o200k", "llama3", "qwen2"), a regular expression, or None for no
            pre-tokenization.
        special_tokens: name -> id.
        normalizer: None, or "NFC", "NFD", "NFKC", "NFKD". With one, decoding gives the normalized text.
        encoder: "auto", "naive", "heap" or "trie"; all give the same ids.
        post_processor: the special tokens that `encode` puts around a text.
        bos_token, eos_token, pad_token, unk_token: names among `special_tokens`, for those who ask. They are never
            guessed, and naming one adds it to no text.
        cache_size: the number of pieces whose ids are kept.

    Raises SpecialTokenError for special tokens that collide with tokens or with each other, PatternError for a pattern
    that can't be compiled, ValueError for names that don't exist.

    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
    >>> tokenizer.encode("lowest slow"), tokenizer.tokenize("lowest slow")
    ([257, 101, 260, 32, 115, 257], [b'low', b'e', b'st', b' ', b's', b'low'])
    """

    def __init__(
        self,
        model: BPEModel,
        *,
        pattern: str | None = "cl100k",
        special_tokens: Mapping[str, int] | SpecialTokens | None = None,
        normalizer: str | UnicodeNormalizer | None = None,
        encoder: str = "auto",
        post_processor: TemplateProcessing | None = None,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        unk_token: str | None = None,
        cache_size: int = CACHE_ENTRIES,
    ) -> None:
        special = special_tokens if isinstance(special_tokens, SpecialTokens) else SpecialTokens(special_tokens or {})
        super().__init__(model, special, {"bos": bos_token, "eos": eos_token, "pad": pad_token, "unk": unk_token})
        self._split = None if pattern is None else Split(pattern)
        self._normalizer = find_normalizer(normalizer)
        self._encoder_name = encoder
        self._encode_piece = make_encoder(encoder, model).encode_piece
        self._post_processor = post_processor
        if post_processor is not None:
            post_processor.check(self._special)
        self._cache = PieceCache(cache_size)

    @classmethod
    def train(
        cls,
        corpus: Corpus,
        vocab_size: int,
        *,
        pattern: str | None = "cl100k",
        special_tokens: Iterable[str] | Mapping[str, int] = (),
        min_frequency: int = 2,
        normalizer: str | UnicodeNormalizer | None = None,
        trainer: str = "auto",
        encoder: str = "auto",
        progress: bool | None = None,
        **options: Any,
    ) -> "BPETokenizer":
        """Learn a tokenizer from a corpus.

        Args:
            corpus: a text (str), a file (pathlib.Path; UTF-8, read in blocks), or an iterable of either, not mixed.
            vocab_size: the number of tokens in all: 256 bytes, the special tokens, and the merges.
            special_tokens: names, whose ids follow the vocabulary, or name -> id, which are reserved before merging.
                They are split out of the training text.
            min_frequency: pairs that occur less often are not merged.
            trainer: "auto", "naive" or "incremental"; all learn the same merges. Ties: see trainers/naive.py.
            progress: a progress bar; by default where standard error is a terminal, after a second.
            options: further arguments of BPETokenizer, such as eos_token.

        Warns with TrainingStopped when nothing is left to merge before vocab_size is reached. Raises TrainingError
        (a ValueError) for an empty corpus, an unreadable file, or a size below 256 plus the special tokens; TypeError
        for a corpus that is neither text nor files.

        Cost: pure Python, about 2 s for 10 MB of English and 8,192 tokens.
        """
        split = None if pattern is None else Split(pattern)
        normalize = find_normalizer(normalizer)
        model, special = learn(
            corpus,
            vocab_size,
            pre_tokenizer=split,
            special_tokens=special_tokens,
            min_frequency=min_frequency,
            normalize=normalize,
            trainer=trainer,
            progress=progress,
        )
        return cls(model, pattern=pattern, special_tokens=special, normalizer=normalize, encoder=encoder, **options)

    # -- encoding ----------------------------------------------------------------------------------------------------

    def encode(
        self,
        text: str,
        *,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        add_special_tokens: bool = True,
    ) -> list[int]:
        """The ids of `text`.

        Args:
            allowed_special: names of special tokens (or "all") that become their id where they stand in the text.
            disallowed_special: names (or "all", less the allowed ones) that raise SpecialTokenError instead. What is
                in neither is plain text; that is the default for all, since text is untrusted.
            add_special_tokens: whether the post-processor, if there is one, adds its tokens.

        Lone surrogates become U+FFFD. Cost: O(n log n) at worst, linear on real text.

        >>> t = BPETokenizer.train("abab", 258, special_tokens=["<|end|>"])
        >>> t.encode("ab<|end|>", allowed_special="all"), len(t.encode("ab<|end|>"))
        ([256, 257], 8)
        """
        text = valid_text(text)
        allowed = self._special.select(allowed_special, "allowed_special")
        disallowed = self._special.select(disallowed_special, "disallowed_special")
        self._special.check(text, disallowed - allowed)
        ids: list[int] = []
        for part, special_id in self._special.split(text, allowed):
            if special_id is None:
                ids += self._encode_valid(part)
            else:
                ids.append(special_id)
        if add_special_tokens and self._post_processor is not None:
            return self._post_processor.apply(ids, self._special)
        return ids

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of `text` with no special token, neither in it nor around it."""
        return self._encode_valid(valid_text(text))

    def encode_batch(self, texts: Iterable[str], **options: Any) -> list[list[int]]:
        """`encode` for each of several texts, with the same options; a list of lists."""
        if isinstance(texts, (str, bytes)):
            raise TypeError("encode_batch takes several texts; for one, use encode")
        return [self.encode(text, **options) for text in texts]

    def tokenize(self, text: str, **options: Any) -> list[bytes]:
        """The tokens of `text` as bytes; options as for `encode`."""
        return self.convert_ids_to_tokens(self.encode(text, **options))

    def pieces(self, text: str) -> list[str]:
        """The pieces that the pre-tokenizer cuts `text` into, after the normalizer."""
        return self._pieces(self._normalize(valid_text(text)))

    def _normalize(self, text: str) -> str:
        return text if self._normalizer is None else self._normalizer(text)

    def _pieces(self, text: str) -> list[str]:
        return self._split.split(text) if self._split else [text] if text else []

    def _encode_valid(self, text: str) -> list[int]:
        ids: list[int] = []
        pieces = self._pieces(self._normalize(text))
        get, cache = self._cache.get, self._cache
        for piece in pieces:
            known = get(piece)
            ids += self._encode_missed(piece) if known is None else known
        cache.lookups += len(pieces)
        return ids

    def _encode_missed(self, piece: str) -> list[int]:
        ids = self._encode_piece(piece.encode())
        self._cache.misses += 1
        self._cache.put(piece, ids)
        return ids

    def count_tokens(self, text: str, limit: int | None = None, **options: Any) -> int:
        """How many tokens `encode` gives, with the same options.

        With a `limit`, counting stops as soon as it is passed, and the answer is then limit + 1: compare with
        `count_tokens(text, limit=n) <= n`.
        """
        if limit is None:
            return len(self.encode(text, **options))
        if options.get("allowed_special") or options.get("disallowed_special"):
            return min(len(self.encode(text, **options)), limit + 1)
        text = self._normalize(valid_text(text))
        pieces = self._split.iter_split(text) if self._split else iter([text] if text else [])
        added = self._added(options.get("add_special_tokens", True))
        counts = (len(self._cache.get(piece) or self._encode_missed(piece)) for piece in pieces)
        return limits.count_up_to((n for counter in ([added], counts) for n in counter), limit)

    def _added(self, add_special_tokens: bool) -> int:
        return self._post_processor.added if add_special_tokens and self._post_processor is not None else 0

    def truncate(self, text: str, max_tokens: int, *, add_special_tokens: bool = True) -> str:
        """The longest prefix of `text`, in whole characters, that `encode`s to at most `max_tokens` tokens.

        >>> BPETokenizer.train("low lower " * 9, vocab_size=261).truncate("lowest of the low", 3)
        'lowes'

        Raises ValueError when `max_tokens` is less than what the post-processor adds. Cost: as encoding the prefix; but
        with a normalizer and no named pattern every prefix is tried, so the square of its length.
        """
        text = valid_text(text)
        room = max_tokens - self._added(add_special_tokens)
        if room < 0:
            raise ValueError(f"max_tokens={max_tokens} is too small: {max_tokens - room} special tokens are added")
        return text[: self._fitting(text, room)]

    def _fitting(self, text: str, room: int) -> int:
        def count(part: str) -> int:
            return len(self._encode_valid(part))

        if self._normalizer is None:
            return limits.longest_prefix(text, room, self._pieces, count, count, self._model)
        # What the normalizer changes can't be told from the pieces. Named patterns have places where a cut changes
        # nothing; for others every prefix has to be tried, among those that are short enough (no normal form makes one
        # character of more than four).
        if self._split is not None and self._split.name is not None:
            return limits.longest_prefix(text, room, safe_parts, count, count, None)
        text = text[: 4 * (room + 1) * self._model.max_token_bytes]
        return limits.longest_prefix(text, room, lambda part: [part] if part else [], count, count, None)

    # -- what it is made of ------------------------------------------------------------------------------------------

    @property
    def pattern(self) -> str | None:
        """The name of the pattern, or the regular expression where it has none."""
        return None if self._split is None else self._split.name or self._split.pattern

    @property
    def normalizer(self) -> UnicodeNormalizer | None:
        """What is done to a text first, or None."""
        return self._normalizer

    @property
    def post_processor(self) -> TemplateProcessing | None:
        """What is put around a text, or None."""
        return self._post_processor

    def cache_statistics(self) -> CacheStatistics:
        """Look-ups, misses, entries and capacity of the cache of pieces."""
        return self._cache.statistics()

    def clear_cache(self) -> None:
        """Forget the pieces met so far."""
        self._cache.clear()

    def _options(self) -> dict[str, Any]:
        return {
            "pattern": self.pattern,
            "special_tokens": self._special,
            "normalizer": self._normalizer,
            "encoder": self._encoder_name,
            "post_processor": self._post_processor,
            "cache_size": self._cache.capacity,
            **{f"{role}_token": name for role, name in self._roles.items()},
        }

    def with_options(self, **changes: Any) -> "BPETokenizer":
        """A new tokenizer with the same model and some of the arguments of BPETokenizer changed."""
        return BPETokenizer(self._model, **{**self._options(), **changes})

    def with_special_tokens(self, special_tokens: Iterable[str] | Mapping[str, int], **changes: Any) -> "BPETokenizer":
        """A new tokenizer with special tokens added: names, whose ids follow the highest id, or name -> id.

        Raises SpecialTokenError for one that collides with what is there. Further changes as in `with_options`.
        """
        if isinstance(special_tokens, str):
            raise SpecialTokenError(f"special_tokens is a list or a dict, not the string {special_tokens!r}")
        if not isinstance(special_tokens, Mapping):
            special_tokens = {name: self.n_vocab + number for number, name in enumerate(special_tokens)}
        if again := sorted(set(special_tokens) & set(self._special.ids)):
            raise SpecialTokenError(
                f"{again[0]!r} is a special token already, with the id {self._special.ids[again[0]]}"
            )
        return self.with_options(special_tokens={**self._special.ids, **special_tokens}, **changes)

    def __repr__(self) -> str:
        return f"<BPETokenizer: {len(self):,} tokens, pattern {self.pattern!r}, {len(self._special.ids)} special>"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self._model, self._options())

    # -- files and other libraries -----------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write `tokenizer.json` and `tokenizer_config.json`, which Hugging Face's libraries read too.

        Each file is written whole or not at all. Raises ConversionError for what the format can't hold.
        """
        from .formats.huggingface import save

        save(self, Path(folder))

    @classmethod
    def from_pretrained(cls, folder: str | Path, *, encoder: str = "auto") -> "BPETokenizer":
        """Read what `save` wrote. Raises TokenizerFileError naming the file and the entry that is wrong."""
        from .formats.huggingface import load

        return load(Path(folder), encoder)

    @classmethod
    def from_tiktoken(cls, name_or_encoding: "str | tiktoken.Encoding", *, encoder: str = "auto") -> "BPETokenizer":
        """The tokenizer of a tiktoken encoding: "cl100k_base", say, or an Encoding object. Needs tiktoken."""
        from .formats.tiktoken import from_tiktoken

        return from_tiktoken(name_or_encoding, encoder)

    def to_tiktoken(self, name: str = "bpelab") -> "tiktoken.Encoding":
        """A tiktoken Encoding with the same ids. Raises ConversionError where tiktoken's rule would give others."""
        from .formats.tiktoken import to_tiktoken

        return to_tiktoken(self, name)


def _rebuild(model: BPEModel, options: dict[str, Any]) -> BPETokenizer:
    return BPETokenizer(model, **options)
