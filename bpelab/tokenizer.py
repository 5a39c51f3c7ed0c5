"""The tokenizer: normalizer -> special tokens -> pre-tokenizer -> encoder -> post-processor, and back.

`BPETokenizer` extends the tokenizer of `core/tokenizer.py`: it opens files, trains and saves. Its methods call the
packages beside this file and have no algorithms of their own. It is immutable, so one object can serve many threads;
methods that "change" it return a new one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

from ._support.nearest_name import refuse_unknown
from .core.pipeline import check_encoding
from .core.spec import TokenizerSpec
from .core.tokenizer import CACHE_ENTRIES
from .errors import SpecialTokenError, TokenizerFileError
from .model.bpe import BPEModel
from .model_inputs.transformers_protocol import TransformersProtocol
from .normalizers import find_normalizer
from .pretokenizers.split import Split
from .regex.patterns import refuse_misspelt
from .vocab.added_tokens import AddedToken
from .vocab.special_tokens import SpecialTokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import Any, Literal

    from ._support.dask_client import Cluster
    from .chat_templates.messages import Message
    from .comparison.drift import DriftingRun
    from .comparison.result import TokenizerDifference
    from .core.length_settings import Padding, Truncation
    from .core.tokenizer import Tokenizer
    from .corpus.inputs import Paths
    from .decoders import Decoder
    from .formats.tiktoken_encoding import Encoding
    from .normalizers import Normalizer
    from .postprocessors import PostProcessor
    from .pretokenizers.base import PreTokenizer
    from .shards import Shards
    from .trainers.counting.corpus import Corpus
    from .trainers.superwords import Superwords
    from .vocab.special_tokens import Special


class _Explaining(type):
    """A metaclass that explains missing class attributes, such as `BPETokenizer.from_file`."""

    if not TYPE_CHECKING:  # else a type checker would accept any name

        def __getattr__(cls, name: str) -> Any:
            from ._support.migration_hints import TOKENIZER, explained

            raise AttributeError(explained(cls.__name__, name, TOKENIZER), name=name, obj=cls)


class BPETokenizer(TransformersProtocol, metaclass=_Explaining):
    """A BPE tokenizer. Train one with `train`, or open one with `from_pretrained`, `from_tiktoken` and the like.

    Methods and attributes, by purpose:

    - creating and opening: `train`, `from_pretrained`, `from_huggingface`, `from_tiktoken`, `from_spec`
    - text to ids: `encode`, `encode_ordinary`, `encode_batch`, `encode_array`, `encode_batch_array`,
      `encode_with_offsets`, `encode_with_dropout`, `encode_piece`, `encode_files`
    - ids to text: `decode`, `decode_batch`, `decode_bytes`, `decode_with_offsets`
    - tokens and counts: `tokenize`, `pieces`, `count_tokens`, `truncate`, `split_by_tokens`; `covers`
    - the vocabulary: `token_to_id`, `id_to_token`, `convert_tokens_to_ids`, `convert_ids_to_tokens`, `get_vocab`,
      `vocab_size`, `n_vocab`, `special_tokens`, `added_tokens`
    - roles of tokens: `bos_token`, `bos_token_id`, `eos_token`, `eos_token_id`, `pad_token`, `pad_token_id`,
      `unk_token`, `unk_token_id`
    - components: `spec` (its normalizer, pre_tokenizer, post_processor, decoder, truncation, padding, dropout,
      metadata), `model`, `pattern`, `pipeline`, `decode_pipeline`
    - changed copies: `with_options`, `with_special_tokens`; to add or remove tokens: functions in `bpelab.editing`
    - comparing: `diff`, `drift`
    - files and other libraries: `save`, `to_tiktoken`, `apply_chat_template`; for transformers: calling it, `pad`,
      `save_pretrained`, `batch_decode`

    Args:
        model: tokens and merges.
        pattern: a named pattern ("gpt2", "cl100k", "o200k", "qwen2" ...), a regular expression, or None for no
            pre-tokenization.
        pre_tokenizer: instead of a pattern, any of `bpelab.pretokenizers`.
        special_tokens: name -> id, or a SpecialTokens of tokens with flags.
        normalizer: None, "NFC", "NFD", "NFKC", "NFKD", or any of `bpelab.normalizers`. With one, decoding returns the
            normalized text.
        encoder: "auto", "naive", "heap", "buckets", "trie", or "native", which is in C; all give the same ids.
            "auto" uses C for the models that it supports (`bpelab.native`), and Python for others.
        decoder: how tokens become text again: "bytes" for tokens that are bytes, or any of `bpelab.decoders`;
            None puts spaces between tokens, as Hugging Face does for files that name no decoder.
        post_processor: the special tokens that `encode` puts around a text.
        bos_token, eos_token, pad_token, unk_token: names from `special_tokens`, for programs that look them up. They
            are never guessed, and naming one doesn't add it to any text.
        truncation, padding, dropout: a file's settings; stored and written back, but never applied unasked.
        metadata: further entries of a tokenizer_config.json, such as "chat_template".
        cache_size: the number of pieces whose ids Python caches; C caches up to 16 MB of them a thread.

    Raises SpecialTokenError for special tokens that collide with tokens or with each other, PatternError for a pattern
    that doesn't compile or looks like a misspelt name, ValueError for names that don't exist.

    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
    >>> tokenizer.encode("lowest slow"), tokenizer.tokenize("lowest slow")
    ([257, 101, 260, 32, 115, 257], [b'low', b'e', b'st', b' ', b's', b'low'])
    """

    def __init__(
        self,
        model: BPEModel,
        *,
        pattern: str | None = "cl100k",
        pre_tokenizer: PreTokenizer | None = None,
        special_tokens: Mapping[str, int] | SpecialTokens | None = None,
        normalizer: str | Normalizer | None = None,
        encoder: str = "auto",
        decoder: Decoder | Literal["bytes"] | None = "bytes",
        post_processor: PostProcessor | None = None,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        unk_token: str | None = None,
        truncation: Truncation | None = None,
        padding: Padding | None = None,
        dropout: float | None = None,
        metadata: Mapping[str, Any] = MappingProxyType({}),
        cache_size: int = CACHE_ENTRIES,
    ) -> None:
        if not isinstance(model, BPEModel):
            raise TypeError(
                f"BPETokenizer takes a BPEModel, not {model!r:.40}: a tokenizer is opened with "
                "BPETokenizer.from_tiktoken(name) or from_pretrained(path)"
            )
        spec = TokenizerSpec(
            model,
            pattern=pattern,
            pre_tokenizer=pre_tokenizer,
            special_tokens=special_tokens,
            normalizer=normalizer,
            decoder=decoder,
            post_processor=post_processor,
            bos_token=bos_token,
            eos_token=eos_token,
            pad_token=pad_token,
            unk_token=unk_token,
            truncation=truncation,
            padding=padding,
            dropout=dropout,
            metadata=metadata,
        )
        self._set_up(spec, encoder, cache_size)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from ._support.migration_hints import TOKENIZER, explained

            if name in TOKENIZER:
                raise AttributeError(explained(type(self).__name__, name, TOKENIZER), name=name, obj=self)
            return object.__getattribute__(self, name)  # raises it again, perhaps inside a property

    @classmethod
    def train(
        cls,
        corpus: Corpus,
        vocab_size: int,
        *,
        pattern: str | None = "cl100k",
        special_tokens: Iterable[str] | Mapping[str, int] = (),
        min_frequency: int = 2,
        min_pre_token_frequency: int = 1,
        normalizer: str | Normalizer | None = None,
        trainer: str = "auto",
        ties: str = "ids",
        client: Cluster = None,
        worker_timeout: float | None = None,
        input_format: str | None = None,
        field: str = "text",
        superwords: str | Superwords | None = None,
        max_memory: int | None = None,
        encoder: str = "auto",
        progress: bool | None = None,
        **options: Any,
    ) -> BPETokenizer:
        """Learn a tokenizer from a corpus.

        Args:
            corpus: a text (str), a file (pathlib.Path), or an iterable of either, not mixed. A file's name tells its
                format, as for `encode_files`: JSON Lines (`.jsonl`), Parquet, or compressed text; else UTF-8 text.
            vocab_size: the total number of tokens: 256 bytes, the special tokens, and the merges.
            special_tokens: names, whose ids follow the vocabulary, or name -> id, which are reserved before merging.
                They are split out of the training text.
            min_frequency: pairs that occur less often aren't merged.
            min_pre_token_frequency: pre-tokens that occur less often in the whole corpus are dropped before merging,
                whatever the trainer. 1 drops none. More saves memory, but pairs lose their counts from rare words,
                which can change merges.
            trainer: "naive", "incremental", "native", which is in C, or "auto", which uses C, or "incremental" if C
                wasn't built. All learn the same merges.
            ties: which of several equally frequent pairs is merged: "ids", the one whose tokens are the oldest (see
                trainers/naive.py); "minbpe", the first in the text; "cs336", the lexicographically greatest. The last
                two have trainers of their own, in Python. To get the merges of those libraries, pass `min_frequency=1`.
            client: a Dask cluster that counts the pre-tokens (the extra `distributed`): a dask.distributed.Client, the
                address of a scheduler, or "local" for processes on this machine (in a script, after
                `if __name__ == "__main__"`, as for every process pool). None counts in this process. With a cluster
                the corpus is as for `encode_files`: paths, folders and patterns, also as str, and fsspec URLs, such
                as `s3://bucket/*.jsonl.gz`, that all workers can read.
            worker_timeout: with `client`, how many seconds the cluster may have no worker, or its scheduler not answer,
                before ClusterError is raised. None waits indefinitely, and warns after 30 s
                (`bpelab._support.dask_wait.ClusterWaits`).
            input_format, field: of the files, as for `encode_files`.
            superwords: how to learn tokens that span several words, such as ` of the`: "superbpe" or "boundless", with
                the settings of their papers, or a `Superwords` with other settings. The tokenizer then splits by the
                pattern of superwords, and `pattern` only defines words. The corpus is read three times.
            max_memory: for the trainer in C, how many bytes counts may take before they move to files in TMPDIR; by
                default 8 GB. The merges don't depend on it. Learning takes additional memory for the distinct
                pre-tokens or phrases.
            progress: whether to show a progress bar; by default if standard error is a terminal, after a second.
            options: further arguments of BPETokenizer, such as eos_token, except pre_tokenizer.

        Warns with TrainingStopped if no pair is left to merge before vocab_size is reached, and PatternMatchesLittle if
        the pattern matches next to nothing of the corpus. Raises TrainingError (a ValueError) for an empty corpus, an
        unreadable file, or a size below 256 plus the special tokens; TypeError for a corpus that is neither text nor
        files, and for a text that is the name of a file; CorpusError naming a file of records or, with a cluster, any
        file; ClusterError. Other arguments are checked before counting starts.

        Cost: for 10 MB of English and 8,192 tokens 2.7 s in pure Python, 0.2 s in C; 1.3 s in C for 100 MB and
        32,768 tokens. With superwords 83 s for 1 GB and 128,000 tokens. Memory for the distinct pre-tokens and phrases,
        not for the corpus.
        """
        refuse_unknown(cls.train, options, cls)
        if "pre_tokenizer" in options:
            raise ValueError("train splits by `pattern`: with another pre_tokenizer, texts would not be cut as learned")
        if pattern is not None:
            refuse_misspelt(pattern)
        split = None if pattern is None else Split(pattern)
        normalize = find_normalizer(normalizer)
        check_encoding(encoder, options.get("cache_size", CACHE_ENTRIES))

        superword_settings: Superwords | None = None
        if superwords is not None:
            from .trainers.superwords import Superwords

            superword_settings = Superwords.of(superwords)
            pattern = superword_settings.pattern

        def build(model: BPEModel, special: dict[str, int]) -> BPETokenizer:
            return cls(model, pattern=pattern, special_tokens=special, normalizer=normalize, encoder=encoder, **options)

        def check(model: BPEModel, special: dict[str, int]) -> TokenizerSpec:
            arguments = {name: value for name, value in options.items() if name != "cache_size"}
            return TokenizerSpec(model, pattern=pattern, special_tokens=special, normalizer=normalize, **arguments)

        from .trainers.train import TrainingOptions, train_model

        training = TrainingOptions(
            pre_tokenizer=split,
            normalize=normalize,
            min_frequency=min_frequency,
            min_pre_token_frequency=min_pre_token_frequency,
            trainer=trainer,
            ties=ties,
            superwords=superword_settings,
            client=client,
            worker_timeout=worker_timeout,
            input_format=input_format,
            field=field,
            max_memory=max_memory,
            progress=progress,
        )
        model, special = train_model(corpus, vocab_size, training, special_tokens, check)
        return build(model, special)

    # -- encoding ----------------------------------------------------------------------------------------------------

    def encode_with_offsets(
        self,
        text: str,
        *,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        add_special_tokens: bool = True,
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the ids of `encode`, and for each the (start, end) of its characters in `text`.

        Tokens that share a character all include it. Tokens that the post-processor adds have (0, 0). With normalizers,
        pre-tokenizers, and post-processors that trim spaces, offsets equal those of Hugging Face's tokenizers.

        >>> t = BPETokenizer.train("abab", 257)
        >>> t.encode_with_offsets("cabé")
        ([99, 256, 195, 169], [(0, 1), (1, 3), (3, 4), (3, 4)])

        Cost: linear; about five times that of `encode`, fifteen if a normalizer changes the text.
        """
        from .model_inputs.encoding import encode_with_offsets

        row = encode_with_offsets(self, text, allowed_special, disallowed_special, add_special_tokens)
        return row.ids, row.offsets

    def covers(self, text: str | bytes) -> list[list[int]]:
        """Return the covers of a text that may go on: the ids with which an encoding can begin that begins with it.

        A cover ends with the first token that reaches the end of `text` or goes beyond it. The text is the beginning of
        a longer one, or all of it; it may be bytes that end inside a character. Special tokens in it are plain text.

        >>> t = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
        >>> [t.convert_ids_to_tokens(ids) for ids in t.covers("slow")]
        [[b's', b'low']]
        >>> [t.convert_ids_to_tokens(ids) for ids in t.covers("slo")]
        [[b's', b'lo'], [b's', b'low']]

        Cost: milliseconds for a word; a second for a text that ends with a space, with which half of a large vocabulary
        begins. Raises ValueError for bytes that no text begins with; ModelError, saying what isn't served, for a
        tokenizer that changes texts in other ways than by making spaces `▁`, cuts them by more than one pattern, or
        can't spell all of them; PatternError for a pattern without an automaton, such as one with long look-aheads;
        BPELabError for more than 100,000 sequences of tokens inside the text.
        """
        from .prefix.covers import covers

        return covers(self, text)

    def encode_files(
        self,
        paths: Paths,
        folder: str | Path,
        *,
        input_format: str | None = None,
        separator: str | None = None,
        field: str = "text",
        errors: str = "strict",
        end_of_document: str | bool | None = None,
        allowed_special: Special = (),
        shard_tokens: int = 100_000_000,
        shard_format: str = "npy",
        dtype: str = "auto",
        threads: int | None = None,
        progress: bool | None = None,
        overwrite: bool = False,
        client: Cluster = None,
        worker_timeout: float | None = None,
    ) -> Shards:
        """Encode corpora into a folder of shards: arrays of ids for training to memory-map.

        Args:
            paths: files, folders, or patterns such as `web/*.jsonl.zst`; one or several. A name's ending tells the
                format: text (.txt), JSON Lines (.jsonl), both also compressed (.gz, .zst), or .parquet.
            folder: where the shards go. To resume an unfinished run, run it again with the same arguments.
            input_format: the format of all files, whatever their names: "text", "jsonl", "parquet", "text.gz" ...
            separator: the string between the documents of a text, such as `<|endoftext|>`. It isn't part of any
                document, and empty documents are skipped. With None, a file is one document.
            field: the JSON Lines field, or the Parquet column, that holds a document. Empty documents count.
            errors: "strict" rejects bytes that aren't UTF-8, "replace" reads them as U+FFFD, as bytes.decode does.
            end_of_document: the special token after each document; True for the tokenizer's eos_token.
            allowed_special: as for `encode`. The post-processor's tokens aren't added.
            shard_tokens: the number of tokens in every shard but the last; a document may continue in the next shard.
            shard_format: "npy", or "bin" for the numbers alone, little-endian.
            dtype: "uint16" or "uint32"; by default "uint16" if all ids of the vocabulary fit.
            threads: the number of threads that encode; by default one for each core.
            overwrite: delete existing shards and start again.
            client: a Dask cluster that encodes, one file a task: a dask.distributed.Client, the address of a scheduler,
                or "local" for processes on this machine. Each file then has its own shards, in its own folder inside
                `folder`, which all workers must see under that name. `threads` are those of a task: 1.
            worker_timeout: with `client`, how many seconds the cluster may have no worker, as for `train`.

        Memory doesn't grow with the inputs. Needs numpy; zstandard and pyarrow for their files (the extra `files`).
        `bpelab.shards.index` describes `index.json`, which lists the folder's contents.

        Raises CorpusError naming the file, the line or row and the field; ShardsError for a folder that can't be
        written, that another process is writing to, or that was started with other arguments; ClusterError of `client`;
        SpecialTokenError, ValueError and MissingDependencyError for the options.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("abab--cab--")
        >>> t = BPETokenizer.train("abab", 258, special_tokens=["<|end|>"])
        >>> shards = t.encode_files(folder / "a.txt", folder / "out", separator="--", end_of_document="<|end|>")
        >>> len(shards), shards.documents, shards.document(1)
        (6, 2, memmap([ 99, 256, 257], dtype=uint16))
        """
        from .shards.write import encode_files

        return encode_files(
            self,
            paths,
            folder,
            input_format=input_format,
            separator=separator,
            field=field,
            errors=errors,
            end_of_document=end_of_document,
            allowed_special=allowed_special,
            shard_tokens=shard_tokens,
            shard_format=shard_format,
            dtype=dtype,
            threads=threads,
            progress=progress,
            overwrite=overwrite,
            client=client,
            worker_timeout=worker_timeout,
        )

    # -- changed copies -----------------------------------------------------------------------------------------------

    def with_options(self, **changes: Any) -> BPETokenizer:
        """Return a new tokenizer with the same model and some arguments of BPETokenizer changed."""
        refuse_unknown(self.with_options, changes, type(self))
        options = {
            **self._spec.arguments(),
            "encoder": self.pipeline.encoder,
            "cache_size": self.pipeline.cache.capacity,
        }
        if "pattern" in changes:
            del options["pre_tokenizer"]
        return type(self)(self._model, **{**options, **changes})

    def with_special_tokens(self, special_tokens: Iterable[str] | Mapping[str, int], **changes: Any) -> BPETokenizer:
        """Return a new tokenizer with special tokens added: names, whose ids follow the highest id, or name -> id.

        Raises SpecialTokenError for one that collides with an existing token. Further changes as in `with_options`.
        """
        if isinstance(special_tokens, str):
            raise SpecialTokenError(f"special_tokens is a list or a dict, not the string {special_tokens!r}")
        if not isinstance(special_tokens, Mapping):
            special_tokens = {name: self.n_vocab + index for index, name in enumerate(special_tokens)}
        if again := sorted(set(special_tokens) & set(self._special.contents.values())):
            raise SpecialTokenError(f"{again[0]!r} is an added token already, with the id {self.token_to_id(again[0])}")
        more = [AddedToken(name, token_id) for name, token_id in special_tokens.items()]
        return self.with_options(special_tokens=SpecialTokens([*self._special.tokens, *more]), **changes)

    def __repr__(self) -> str:
        return f"<BPETokenizer: {len(self):,} tokens, pattern {self.pattern!r}, {len(self._special.ids)} special>"

    # -- comparing ---------------------------------------------------------------------------------------------------

    def diff(self, other: Tokenizer, *, corpus: Iterable[str] | None = None) -> TokenizerDifference:
        """Compare with another tokenizer: return the differences and the shortest text found with different ids.

        Args:
            corpus: texts, such as the lines of a file; the result counts those with different ids.

        Texts are compared with special tokens allowed and the post-processor applied. "Equal" rests on a proof (the
        same components; patterns that cut alike; a merge list and ranks that are equivalent) or on a search over many
        short texts, and the result says which. Entries of a tokenizer_config.json other than the chat template aren't
        compared. Cost: seconds for large vocabularies.

        >>> t = BPETokenizer.train("12 " * 9, 257, pattern="cl100k")
        >>> print(t.diff(t.with_options(pattern="qwen2")))
        different
        the shortest text found: '12' has the ids [256] and [49, 50]
        the cause: pattern: Split('cl100k') and Split('qwen2'); '00' is cut into ['00'] and ['0', '0']
          pattern: Split('cl100k') and Split('qwen2'); '00' is cut into ['00'] and ['0', '0']
        """
        from .comparison.diff import diff

        return diff(self, other, corpus)

    def drift(self, ids: Iterable[int]) -> list[DriftingRun]:
        """Return the runs of `ids` that change when their text is decoded and encoded again; [] if none does.

        A model may choose other tokens for a word than `encode` does. The text is that of `decode`; the special tokens
        among the ids are allowed in it, and those that the post-processor adds aren't compared. If bytes aren't UTF-8,
        or a normalizer changes the text, one run goes from the first differing id to the last. Raises UnknownTokenError
        for an id that doesn't exist.

        >>> t = BPETokenizer.train("abab", 257)
        >>> print(*t.drift([99, 97, 98, 99, 256]))
        from id 1 on [97, 98] is encoded as [256]: 'ab'
        >>> t.drift(t.encode("cabcab"))
        []
        """
        from .comparison.drift import drift

        return drift(self, ids)

    # -- conversations -----------------------------------------------------------------------------------------------

    def apply_chat_template(self, messages: Sequence[Message], template: str | None = None, **options: Any) -> Any:
        """Format a conversation for a model, and return its ids, or its text with tokenize=False.

        No character of a message becomes a control token. The options, such as add_generation_prompt, tools,
        continue_final_message, return_assistant_mask and system_prompt, and the errors are those of
        `bpelab.chat.apply_chat_template`.

        >>> t = BPETokenizer.train("hello", 258, special_tokens=["<|im_start|>", "<|im_end|>"])
        >>> t.apply_chat_template([{"role": "user", "content": "hi"}], "chatml", tokenize=False)
        '<|im_start|>user\\nhi<|im_end|>\\n'
        """
        from .chat_templates.apply import apply_chat_template

        return apply_chat_template(self, messages, template, **options)

    # -- files and other libraries -----------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write `tokenizer.json` and `tokenizer_config.json`, which Hugging Face's libraries read too.

        Each file is written whole or not at all. Raises ConversionError if the format can't hold the tokenizer or
        `folder` is the name of a file, ValueError for an empty name.
        """
        from pathlib import Path

        from .formats.huggingface import save

        if folder == "":  # Path would take it for the current folder
            raise ValueError('save needs the name of a folder, and it is empty: "." is the current one')
        save(self._spec, Path(folder))

    @classmethod
    def from_pretrained(cls, path: str | Path, *, pattern: str | None = None, encoder: str = "auto") -> BPETokenizer:
        """Open a folder or file of Hugging Face's, GGUF, SentencePiece, minbpe, GPT-2 or tiktoken.

        A `pattern` is needed if the files don't say how to split text. Nothing is downloaded and no code is run. Raises
        TokenizerFileError naming the file and the wrong entry.
        """
        from ._support.textio import expand_user

        if not os.path.exists(expand_user(path)):  # unlike Path.exists, never an OSError
            from .formats.hub import other_sources

            raise TokenizerFileError(path, "", f"there is no such file or folder{other_sources(os.fspath(path))}")
        from .formats.detect import open_spec

        return cls.from_spec(open_spec(path, pattern=pattern), encoder=encoder)

    @classmethod
    def from_huggingface(
        cls,
        repo_or_path: str | Path,
        *,
        revision: str | None = None,
        token: str | None = None,
        cache_dir: str | Path | None = None,
        encoder: str = "auto",
    ) -> BPETokenizer:
        """Open the tokenizer of a repository on the Hugging Face Hub ("Qwen/Qwen2.5-0.5B"), or in a local folder.

        Args:
            revision: a branch, a tag or a commit; by default "main".
            token: an access token; by default the one of `hf auth login` or HF_TOKEN.
            cache_dir: where the cache is; by default where huggingface_hub has it (HF_HUB_CACHE).

        Only the tokenizer's files are downloaded, once; HF_HUB_OFFLINE=1 uses the downloaded files. Needs
        huggingface_hub. Raises BPELabError saying what is missing, gated or unreachable, and what to do.
        """
        from .formats.hub import fetch

        folder = fetch(str(repo_or_path), revision=revision, token=token, cache_dir=cache_dir)
        return cls.from_pretrained(folder, encoder=encoder)

    @classmethod
    def from_tiktoken(cls, name_or_encoding: str | Encoding, *, encoder: str = "auto") -> BPETokenizer:
        """Return the tokenizer of a tiktoken encoding: "cl100k_base", a model's "gpt-4o", or an Encoding.

        Its eos_token is `<|endoftext|>`, like tiktoken's eot_token. Raises ValueError for a name that tiktoken doesn't
        know, MissingDependencyError without tiktoken.
        """
        from .formats.tiktoken_registry import from_tiktoken

        return cls.from_spec(from_tiktoken(name_or_encoding), encoder=encoder)

    def to_tiktoken(self, name: str = "bpelab") -> Encoding:
        """Return a tiktoken Encoding with the same ids.

        Raises ConversionError if tiktoken's rule would give other ids.
        """
        from .formats.tiktoken_encoding import to_tiktoken

        return to_tiktoken(self._spec, name)


def open_tokenizer(what: str | Path, *, pattern: str | None = None, encoder: str = "auto") -> BPETokenizer:
    """Open a tokenizer, given a folder, a file, or the name of a tiktoken encoding.

    Raises TokenizerFileError for a file that can't be read, BPELabError if `what` is neither a file nor a known name.
    """
    from .formats.detect import open_spec

    return BPETokenizer.from_spec(open_spec(what, pattern=pattern), encoder=encoder)
