"""The figures' data says what encoders, trainers and patterns say, and no text breaks their HTML."""

import json
import math
import random
import re
import subprocess
import sys
import threading
import time
import unicodedata
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from bpelab import (
    BPEModel,
    BPETokenizer,
    ModelError,
    PatternError,
    Split,
    StreamDecoder,
    Superwords,
    TrainingError,
    chat,
    trace_encode,
)
from bpelab._support.install import install_command
from bpelab.analysis.cost import price
from bpelab.analysis.shape import ModelShape
from bpelab.baselines import WordPieceTokenizer
from bpelab.chat import ChatSession
from bpelab.chat.models.find import find_model
from bpelab.decoders import ByteFallback, DecoderSequence, Fuse, Replace, Strip
from bpelab.encoders import ENCODERS, NaiveEncoder
from bpelab.errors import BackendError, BPELabError, ConversationError, TemplateError
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.model.trace import HeapStep, MergeStep
from bpelab.notebook import book_text
from bpelab.prefix import ByteModel
from bpelab.pretokenizers import PATTERNS
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.regex.matchers import NamedMatcher, Pattern
from bpelab.trainers.naive import count_pairs, train_naive
from bpelab.unicode.tables import category
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..chat.scripted import Scripted
from ..chat.tiny import tiny_tokenizer
from ..conftest import amount, fuzz_text, random_merges

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab import widgets
from bpelab.widgets import (
    AskModel,
    BatchSizes,
    ByteInspector,
    CacheStepper,
    ChatBox,
    ClusterStepper,
    CostCalculator,
    CoverTree,
    HeapStepper,
    LongestMatch,
    MaskStepper,
    MergePlayer,
    ModelView,
    PreTokenView,
    ReachableTokens,
    StreamBuffer,
    TemplateInspector,
    TokenView,
    TrainScrubber,
    TransitionPoint,
    TrieWalker,
    base,
    library,
    pre_token_view,
    sphinx,
    stream_buffer,
    visible,
)

NAMED = [p.name for p in PATTERNS.values()]
SHAPE = ModelShape(2, 4, 2, 16, 64, 256, 1)


@lru_cache(1)
def tokenizer() -> BPETokenizer:
    return BPETokenizer.train(book_text()[:60_000], 1200)


@lru_cache(1)
def few_tokens() -> BPETokenizer:
    return BPETokenizer.train(book_text()[:20_000], 300)


@lru_cache(1)
def other_tokenizer() -> BPETokenizer:
    """Of the shipped model's size, with its control tokens."""
    own = find_model().tokenizer()
    return BPETokenizer.train(book_text()[:60_000], own.n_vocab, special_tokens=[*own.special_tokens])


@lru_cache(1)
def rank_tokenizer() -> BPETokenizer:
    """As tiktoken has it: a table of ranks, and a piece that is a token is taken whole."""
    return BPETokenizer(BPEModel.from_ranks(tokenizer().model.ids), pattern="gpt2")


@lru_cache(1)
def word_pieces() -> WordPieceTokenizer:
    return WordPieceTokenizer.train(book_text()[:60_000], 1200, score="frequency")


@lru_cache(1)
def spelling_tokenizer() -> BPETokenizer:
    """As SentencePiece's: characters, bytes that are spelled, ▁ for spaces, and decoders that hold tokens back."""
    tokens = [*(f"<0x{byte:02X}>" for byte in range(256)), *"▁abt"]
    initial_symbols = InitialSymbols(characters=True, byte_tokens={byte: byte for byte in range(256)})
    ids = {token.encode(): number for number, token in enumerate(tokens)}
    model = BPEModel({number: token for token, number in ids.items()}, {}, ids, initial_symbols=initial_symbols)
    decoder = DecoderSequence((Replace(Pattern("String", "▁"), " "), ByteFallback(), Fuse(), Strip(" ", 1, 0)))
    return BPETokenizer(model, pattern=None, pre_tokenizer=Metaspace(), decoder=decoder)


@lru_cache(1)
def chat_tokenizer() -> BPETokenizer:
    return tokenizer().with_special_tokens([*chat.NAMED["chatml"].tokens, *chat.NAMED["llama3"].tokens])


@lru_cache(1)
def late_tokenizers() -> dict[int, BPETokenizer]:
    """Of one size, with words up to three transition points."""
    corpus = book_text()[:30_000]
    made = {n: BPETokenizer.train(corpus, 600, superwords=Superwords(transition=n)) for n in (400, 500)}
    return {600: BPETokenizer.train(corpus, 600), **made}


@lru_cache(1)
def byte_model() -> ByteModel:
    """Of a model whose logits are some numbers, decided by the last id and how many there are."""
    size = tokenizer().n_vocab

    def logits(ids: list[int]) -> list[float]:
        seed = sum(ids[-1:]) + 7 * len(ids)
        return [(seed * (token + 3)) % 23 / 2 for token in range(size)]

    return ByteModel(logits, tokenizer(), stop=range(40))


def conversation(text: str) -> list[dict]:
    return [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": text},
        {"role": "assistant", "content": "Hello\n there."},
    ]


def talk(say=lambda said, turn: tiny_tokenizer().encode(f"{turn}. " + said)[:20]) -> ChatSession:
    """A session with a model that says it after you, or what `say` gives."""
    return ChatSession(backend=Scripted(say), tokenizer=tiny_tokenizer(), max_new_tokens=40)


def shipped_bytes():
    """The shipped model, which computes all ids each time: what is cached changes the last digits of its logits."""
    session = ChatSession()
    backend, model = session.backend, session.byte_model("Hi")

    def logits(ids):
        backend.next_logits([ids[0] ^ 1])
        return backend.next_logits(ids)

    return ByteModel(logits, session.tokenizer, before=model.before, stop=model.stop)


MAKERS = {
    "MergePlayer": lambda text: MergePlayer(tokenizer(), text),
    "MergePlayer, one piece": lambda text: MergePlayer(tokenizer().model, text),
    "MergePlayer, ranks": lambda text: MergePlayer(rank_tokenizer(), text),
    "MergePlayer, NFKC": lambda text: MergePlayer(tokenizer().with_options(normalizer="NFKC"), text),
    "TrainScrubber": lambda text: TrainScrubber(text, 20),
    "TrainScrubber, no pattern": lambda text: TrainScrubber(text, 3, None),
    "HeapStepper": lambda text: HeapStepper(tokenizer().model, text),
    "HeapStepper, ranks": lambda text: HeapStepper(rank_tokenizer().model, text),
    "TransitionPoint": lambda text: TransitionPoint(late_tokenizers(), text, measured="one of the best"),
    "TransitionPoint, o200k": lambda text: TransitionPoint(
        {400: late_tokenizers()[400]}, text, measured="a\ud800", pattern="o200k"
    ),
    "TrieWalker": lambda text: TrieWalker(tokenizer().model, text),
    "TrieWalker, ranks": lambda text: TrieWalker(rank_tokenizer().model, text),
    "ReachableTokens": lambda text: ReachableTokens(few_tokens(), text),
    "ReachableTokens, ranks": lambda text: ReachableTokens(
        BPETokenizer(BPEModel.from_ranks(few_tokens().model.ids), pattern="gpt2"), text, num_merges=5
    ),
    "PreTokenView": lambda text: PreTokenView(text, NAMED[:6]),
    "PreTokenView, with gaps": lambda text: PreTokenView(text, {"</script>": "[a-z]+|<", "one": "."}),
    "StreamBuffer": lambda text: StreamBuffer(tokenizer(), text),
    "StreamBuffer, NFKC": lambda text: StreamBuffer(tokenizer().with_options(normalizer="NFKC"), text),
    "StreamBuffer, decoders": lambda text: StreamBuffer(spelling_tokenizer(), text),
    "TokenView": lambda text: TokenView(text, {"<b>": tokenizer(), "\ud800": rank_tokenizer()}),
    "TokenView, NFC": lambda text: TokenView(text, tokenizer().with_options(normalizer="NFC")),
    "TemplateInspector": lambda text: TemplateInspector(chat_tokenizer(), conversation(text), "chatml"),
    "TemplateInspector, NFC": lambda text: TemplateInspector(
        chat_tokenizer().with_options(normalizer="NFC"), conversation(text), "llama3"
    ),
    "ChatBox": lambda text: ChatBox(talk(), text),
    "ChatBox, the second message": lambda text: ChatBox(talk(), ["Hi é", text]),
    "ByteInspector": ByteInspector,
    "AskModel": lambda text: AskModel(text, {"<b>": other_tokenizer()}, max_new_tokens=3),
    "ModelView": lambda text: ModelView(text, max_new_tokens=3),
    "CacheStepper": lambda text: CacheStepper(tokenizer(), text),
    "CacheStepper, nearly no cache": lambda text: CacheStepper(tokenizer(), text, 4),
    "LongestMatch": lambda text: LongestMatch(word_pieces(), text),
    "MaskStepper": MaskStepper,
    "MaskStepper, o200k": lambda text: MaskStepper(text, "o200k"),
    "MaskStepper, gpt2": lambda text: MaskStepper(text, "gpt2"),
    "ClusterStepper": ClusterStepper,
    "ClusterStepper, one worker": lambda text: ClusterStepper(text, "gpt2", parts=8, workers=1),
    "CostCalculator": lambda text: CostCalculator(text, {"<b>": tokenizer(), "\ud800": rank_tokenizer()}, SHAPE),
    "CostCalculator, a price": lambda text: CostCalculator(text, {"one": tokenizer()}, SHAPE, 2.5),
    "CoverTree": lambda text: CoverTree(byte_model(), text),
    "CoverTree, of the shipped model": lambda text: CoverTree(shipped_bytes(), text),
}
HOSTILE = [
    "",
    " ",
    "\n",
    "\0",
    "</script><img src=x onerror=alert(1)>",
    "<!-- <script>alert(1)</script> -->",
    "<!--<script>",
    "]]>&amp;&#60;&lt;\"'`${alert(1)}",
    "\ud800\udc00 \ud800 \udfff",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇺🇸",
    "שלום مرحبا \u202eabc\u202c \u2066x\u2069",
    "e\u0301\u0302\u0303 \u0301 \u200b\u200d\ufeff\u00ad\u2060\u3164",
    "\u2028\u2029\x85\x0b\x0c\r\n\r\t \xa0\u3000",
    "\U0010ffff\ue000\U000e0041\uffff",
    "﷽ﷺ" * 90,
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "the lamplighters’ café " * 40,
]


class Tags(HTMLParser):
    """The elements and the JSON of a static form."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.scripts, self.open = [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def check(figure):
    """What must hold for every figure and every text."""
    html = figure.static_html()
    parsed = Tags(html)
    assert not parsed.open
    assert set(parsed.tags) <= {"div", "p", "code", "ol", "li", "table", "tr", "td", "th", "script"}
    assert set(parsed.attributes) <= {"class", "data-figure", "type"}
    data = json.loads("".join(parsed.scripts))
    own = data.pop("own_text", None)
    assert data == figure.data  # JSON-able, and nothing lost on the way
    assert own is None or (own["text"], own["limit"], own["unit"]) == (figure.text, figure.limit, figure.unit)
    assert len(parsed.scripts) == 1
    json.dumps(figure.data, ensure_ascii=False).encode()  # as a kernel sends it: no lone surrogates
    assert all(char in " \n" or category(char)[0] not in "CZ" for char in html)
    assert not figure.error
    bundle = figure._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert bundle["text/html"] == html
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"].startswith(type(figure).__name__ + ": ")
    assert " at 0x" not in bundle["text/plain"] and len(bundle["text/plain"]) < 500


@pytest.mark.parametrize("maker", MAKERS)
class TestEveryFigure:
    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    def test_any_text(self, maker, text):
        figure = MAKERS[maker](text)
        check(figure)
        assert figure.static_html() == MAKERS[maker](text).static_html()

    def test_random_text(self, maker):
        rng = random.Random(7)
        for _ in range(amount(10, 300)):
            check(MAKERS[maker](fuzz_text(rng)))

    def test_a_huge_text_is_cut_with_a_note(self, maker):
        figure = MAKERS[maker]("long words, é " * 72_000)
        check(figure)
        assert figure.data["note"].startswith(f"Only the first {figure.limit:,} of 1,0")
        assert figure.data["note"] in figure.static_html()
        assert len(figure.static_html()) < 500_000
        assert len(figure.text) <= figure.limit

    def test_a_reader_types(self, maker):
        figure = MAKERS[maker]("first")
        for text in ("the lamplighter", "", "x" * 5000, "</p>\ud800", "short"):
            figure.text = text
            expected = MAKERS[maker](text)
            assert (figure.data, figure.text, figure.error) == (expected.data, expected.text, "")

    def test_what_fails_becomes_a_sentence(self, maker, monkeypatch):
        figure = MAKERS[maker]("first")
        before = figure.data
        for problem, sentence in (
            (ModelError("it does not fit"), "it does not fit"),
            (RuntimeError("oh"), "This text can't be shown: RuntimeError: oh"),
        ):

            def fail(text, problem=problem):
                raise problem

            monkeypatch.setattr(figure, "compute", fail)
            figure.text += "!"
            assert (figure.error, figure.data) == (sentence, before)
        monkeypatch.undo()
        figure.text = "again"
        assert figure.error == "" and figure.data == MAKERS[maker]("again").data


def test_the_note_follows_what_is_typed_beyond_the_limit():
    figure = MergePlayer(tokenizer(), "x" * 200)
    assert figure.data["note"] == ""
    figure.text = "x" * 201
    assert figure.data["note"] == "Only the first 200 of 201 bytes are shown."
    figure.text = "x" * 199
    assert figure.data["note"] == ""


def test_characters_are_never_cut():
    figure = HeapStepper(tokenizer(), "é" * 31 + "日" * 10)
    assert figure.text == "é" * 30
    assert HeapStepper(tokenizer(), "x" * 59 + "日").text == "x" * 59


def texts(count):
    rng = random.Random(3)
    words = [" lamplighter", " shipwrights something", "eleventh", "don't panic", "aaaaaaaaa", "日本 😀"]
    return words + [fuzz_text(rng) for _ in range(count)]


def replayed(data):
    """The ids after all steps, by position alone."""
    ids = list(data["leaves"])
    for step in data["steps"]:
        if step.get("token") is not None:
            place = step.get("position", 0)
            ids[place : place + step["take"]] = [step["token"]]
    return ids


class TestMergePlayer:
    @pytest.mark.parametrize("maker", [tokenizer, rank_tokenizer])
    def test_says_what_the_naive_encoder_says(self, maker):
        encoder = NaiveEncoder(maker().model)
        for text in texts(amount(20, 1000)):
            player = MergePlayer(maker(), text)
            assert replayed(player.data) == player.data["ids"] == maker().encode(player.text)
            expected = []
            for piece in maker().pieces(player.text):
                steps = list(trace_encode(encoder, piece.encode()))
                whole = maker().model.whole_piece_id(piece.encode()) is not None and len(piece.encode()) > 1
                expected += [None] if whole else [step.rank for step in steps]
            assert [step["rank"] for step in player.data["steps"]] == expected

    def test_a_model_takes_the_text_as_one_piece(self):
        model = tokenizer().model
        player = MergePlayer(model, "the lamplighter, the lamplighter")
        steps = list(trace_encode(NaiveEncoder(model), player.text.encode()))
        told = [(s["rank"], s["position"], *s["pair"], s["token"]) for s in player.data["steps"]]
        assert told == [(s.rank, s.position, s.left, s.right, s.token) for s in steps]
        assert player.data["pieces"] == [0]

    def test_a_normalizer_may_lengthen_a_text(self):
        player = MergePlayer(tokenizer().with_options(normalizer="NFKC"), "﷽ﷺ" * 60)
        assert len(player.data["leaves"]) <= 200


class TestHeapStepper:
    def test_says_what_the_heap_encoder_says(self):
        rng = random.Random(5)
        models = [tokenizer().model, rank_tokenizer().model]
        models += [BPEModel.from_merges(random_merges(rng, b"ab", 30)) for _ in range(amount(10, 300))]
        for number, model in enumerate(models):
            for text in texts(10) if number < 2 else ["".join(rng.choices("ab", k=rng.randint(0, 40)))]:
                stepper = HeapStepper(model, text)
                piece = stepper.text.encode()
                if model.whole_piece_id(piece) is not None and len(piece) > 1:
                    assert [step["action"] for step in stepper.data["steps"]] == ["whole"]
                    continue
                self.compare(stepper, list(trace_encode(ENCODERS["heap"](model), piece)))

    def compare(self, stepper, trace):
        data = stepper.data
        taken = [(s.action, s.rank, s.node) for s in trace if isinstance(s, HeapStep) and s.action != "push"]
        assert [(step["action"], step["rank"], step["node"]) for step in data["steps"]] == taken
        merged = [(s.position, s.token) for s in trace if isinstance(s, MergeStep)]
        assert [(s["position"], s["token"]) for s in data["steps"] if s["action"] == "pop"] == merged
        assert replayed(data) == data["ids"]
        pushes = [(s.rank, s.node) for s in trace if isinstance(s, HeapStep) and s.action == "push"]
        assert [tuple(entry[:2]) for entry in data["entries"]] == pushes
        for _, _, _, _, pushed, popped, stale in data["entries"]:
            assert pushed < popped <= len(data["steps"])
            was_grey = stale is not None and stale < popped
            assert was_grey == (data["steps"][popped - 1]["action"] == "stale")
        self.compare_heaps(data)

    def compare_heaps(self, data):
        assert len(data["heaps"]) == len(data["steps"]) + 1
        for step, array in enumerate(data["heaps"]):
            waiting = [n for n, e in enumerate(data["entries"]) if e[4] <= step < e[5]]
            assert sorted(array) == waiting
            keys = [tuple(data["entries"][n][:2]) for n in array]
            assert all(keys[(i - 1) // 2] <= keys[i] for i in range(1, len(keys)))
            if step < len(data["steps"]):
                assert data["entries"][array[0]][5] == step + 1  # what is on top comes off next


class TestTrieWalker:
    @pytest.mark.parametrize("maker", [tokenizer, rank_tokenizer])
    def test_says_what_the_trie_encoder_says(self, maker):
        model = maker().model
        for text in texts(amount(20, 1000)):
            walker = TrieWalker(model, text)
            piece = walker.text.encode()
            assert walker.data["ids"] == ENCODERS["trie"](model).encode_piece(piece)
            if model.whole_piece_id(piece) is None:
                steps = list(trace_encode(ENCODERS["trie"](model), piece))
                told = [(step["action"], step["position"], step["token"]) for step in walker.data["steps"]]
                assert told == [(step.action, step.position, step.token) for step in steps]

    def test_reasons(self):
        says = [step["say"] for step in TrieWalker(tokenizer(), " shipwrights something").data["steps"]]
        assert "“thing” can't follow “·some”: merging the two would give “·so” “met” “hing”. Rejected." in says
        assert any(re.search(r"is a dead end\. Take “.*” back", say) for say in says)
        assert any(re.search(r"would end at byte \d+, which is a dead end", say) for say in says)

    def test_refuses_what_the_encoder_refuses(self):
        single = {bytes([byte]): byte for byte in range(256)}
        with pytest.raises(ModelError, match="use encoder='heap'"):
            TrieWalker(BPEModel.from_ranks(single | {b"abc": 256, b"ab": 257}), "abc")


class TestReachableTokens:
    def test_says_what_the_naive_encoder_reaches(self):
        own, some_missed = few_tokens(), False
        tokens = own.model.tokens
        pairs = [(tokens[left], tokens[right]) for left, right in own.model.merges]
        for text in texts(amount(10, 100)):
            data = ReachableTokens(own, text).data
            names = [visible.label_text(label) for label in data["labels"]]
            words = Counter(piece.encode() for piece in own.pieces(text[: ReachableTokens.limit]))
            learned, known = [], [bytes([byte]) for byte in range(256)]
            for step in train_naive(words, 12):
                learned.append((known[step.left], known[step.right]))
                known.append(step.token)
            assert [names[node] for node in data["added"]] == [visible.plain_label(token) for token in known[256:]]
            for count in range(len(learned) + 1):
                model = BPEModel.from_merges(dict.fromkeys(pairs + learned[:count]))
                encode = NaiveEncoder(model).encode_piece
                missed = {token for token in known[256 : 256 + count] if len(encode(token)) > 1}
                assert {names[node] for node in data["missed"][count]} == set(map(visible.plain_label, missed))
                some_missed |= bool(missed)
                if count:
                    assert f"Reached so far: {count - len(missed)} of {count}." in data["says"][count]
            for node, parts in enumerate(data["parts"]):
                assert all(part < node and data["levels"][part] < data["levels"][node] for part in parts)
                assert "".join(names[part] for part in parts) == names[node] or not parts or "[" in names[parts[0]]
        assert some_missed

    def test_the_reason_is_what_the_bytes_become(self):
        own = BPETokenizer.train("a red bed, bread and a red shed, ready to spread. " * 3, 264)
        says = ReachableTokens(own, "write, wren, wreck, wrote: a wren and a wreath").data["says"]
        missed = [say for say in says if "isn't" in say]
        assert "“·wr” + “e”: “·wre” isn't reached: earlier merges make “·” “w” “re” of its bytes, and no" in missed[0]

    def test_a_merge_that_both_have(self):
        own = BPETokenizer.train("the the the", 257)
        data = ReachableTokens(own, "the the the", num_merges=1).data
        assert "is a token of the tokenizer, too" in data["says"][1] and data["added"][0] in data["own"]

    def test_bytes_are_needed(self):
        with pytest.raises(BPELabError, match="merges of bytes"):
            ReachableTokens(spelling_tokenizer(), "a")


class TestTrainScrubber:
    @pytest.mark.parametrize("pattern", ["gpt2", "cl100k", None])
    def test_says_what_training_says(self, pattern):
        text = book_text()[1000:2500]
        data = TrainScrubber(text, 25, pattern).data
        pieces = [piece.encode() for piece in (Split(pattern).split(text) if pattern else [text])]
        steps = list(train_naive(Counter(pieces), 26, keep_counts=True))
        assert [(*step["pair"], step["count"]) for step in data["steps"]] == [
            (step.left, step.right, step.count) for step in steps[:25]
        ]
        for step, bars in zip(steps, data["bars"], strict=True):
            assert bars[0] == [step.left, step.right, step.count]
            assert [count for *_, count in bars] == sorted(step.counts.values(), reverse=True)[:8]
            assert all(step.counts[left, right] == count for left, right, count in bars)
        for merges in (0, 1, 12, 25):
            trained = BPETokenizer.train(text, 256 + merges, pattern=pattern, progress=False)
            cuts = [[ids for step, ids in word if step <= merges][-1] for word in data["words"]]
            ids = [token for word in data["order"] for token in cuts[word]]
            assert ids == trained.encode(text)
            assert data["sizes"][merges] == len(ids)

    def test_training_may_end_early(self):
        data = TrainScrubber("abab", 9).data
        assert data["ended"] and len(data["steps"]) == 1 and len(data["bars"]) == 1
        assert data["say"].endswith("No pair occurs twice any more, so training ends here.")
        assert count_pairs([([256, 256], 1)]) == {(256, 256): 1}

    def test_sixty_merges_at_most(self):
        assert len(TrainScrubber(book_text()[:2000], 500).data["steps"]) == 60

    def test_refusals(self):
        with pytest.raises(TrainingError, match="at least 1"):
            TrainScrubber("text", 0)
        with pytest.raises(PatternError):
            TrainScrubber("text", 3, "(")


class TestPreTokenView:
    def test_says_what_the_patterns_say(self):
        for text in [*texts(amount(20, 1000)), book_text()[:3000]]:
            view = PreTokenView(text, NAMED)
            starts = []
            for name, panel in zip(NAMED, view.data["panels"], strict=True):
                cut = [view.text[piece["start"] : piece["end"]] for piece in panel["pieces"]]
                assert cut == Split(name).split(view.text)
                # Every piece of a pattern for words is a match, so some alternative made it.
                made = [piece["alternative"] is not None for piece in panel["pieces"]]
                assert all(made) or not PATTERNS[name].cuts_words
                starts.append({piece["start"] for piece in panel["pieces"]})
                counts = Counter(piece["alternative"] for piece in panel["pieces"])
                assert [choice["count"] for choice in panel["alternatives"]] == [
                    counts[i] for i in range(len(panel["alternatives"]))
                ]
            assert view.data["differ"] == sorted(set.union(*starts) - set.intersection(*starts))

    @pytest.mark.parametrize("name", NAMED)
    def test_the_alternatives_are_the_pattern(self, name):
        regex = PATTERNS[name].regex
        parts = pre_token_view.alternatives(regex)
        assert "|".join(parts) == regex
        assert all(part in pre_token_view.DESCRIPTIONS for part in parts)

    @pytest.mark.parametrize(
        ("pattern", "parts"),
        [
            ("[]|]|a", ["[]|]", "a"]),
            ("[^]|]|a", ["[^]|]", "a"]),
            (r"[\]|]|a", [r"[\]|]", "a"]),
            ("", [""]),
            ("(a|b)", ["(a|b)"]),
        ],
    )
    def test_bars_in_classes_and_groups(self, pattern, parts):
        assert pre_token_view.alternatives(pattern) == parts

    def test_gaps_and_groups(self):
        view = PreTokenView("ab--cd!", {"letters": "([a-b]+)|c"})
        assert [piece["alternative"] for piece in view.data["panels"][0]["pieces"]] == [0, None, 1, None]

    @pytest.mark.parametrize("pattern", ["(?i)ab|c", r"(ab)\1|(c)\2|AB", r"(?P<x>A)|B(?P=x)?|c"])
    def test_alternatives_that_can_not_stand_alone(self, pattern):
        panel = PreTokenView("ABc", {"odd": pattern}).data["panels"][0]
        assert [choice["regex"] for choice in panel["alternatives"]] == [pattern]
        assert [piece["end"] for piece in panel["pieces"]] == [2, 3] or pattern.startswith("(?P")
        assert panel["pieces"][0]["alternative"] == 0

    def test_refusals(self):
        for wrong in ((), "gpt2", ("(",)):
            with pytest.raises(PatternError):
                PreTokenView("text", wrong)


class TestLongestMatch:
    def test_says_what_the_tokenizer_says(self):
        for text in [*texts(amount(20, 300)), "unlighting 日 lamps"]:
            figure, pieces = LongestMatch(word_pieces(), text), word_pieces().vocabulary
            assert figure.data["ids"] == word_pieces().encode(figure.text)
            given: list[dict] = []
            for step in figure.data["steps"]:
                if step["action"] == "lose":
                    given = [earlier for earlier in given if earlier["to"] <= step["from"]]
                if step["action"] != "miss":
                    given.append(step)
            assert [step["id"] for step in given] == figure.data["ids"]
            assert all(step["label"] == visible.visible(pieces[step["id"]].encode()) for step in given)
            assert [step["to"] for step in given[:-1]] == [step["from"] for step in given[1:]]

    def test_looks_from_the_longest_on(self):
        figure = LongestMatch(WordPieceTokenizer(["ab", "a", "##c"]), "abc")
        looks = [(step["action"], step["from"], step["to"]) for step in figure.data["steps"]]
        assert looks == [("take", 0, 2), ("take", 2, 3)]
        assert figure.data["say"].endswith("Take it. The end is reached: 2 tokens.")
        lost = LongestMatch(WordPieceTokenizer(["ab", "##c"]), "abd").data["steps"]
        assert [step["action"] for step in lost] == ["take", "miss", "lose"]

    def test_nothing_to_cut(self):
        assert LongestMatch(word_pieces(), "").data["say"] == "No text, so no tokens."
        assert LongestMatch(word_pieces(), " \n").data["say"] == "No word, so no tokens."


class TestStreamBuffer:
    @pytest.mark.parametrize("maker", [tokenizer, spelling_tokenizer])
    def test_says_what_the_decoder_says(self, maker):
        for text in texts(amount(20, 1000)):
            buffer, decoder = StreamBuffer(maker(), text), StreamDecoder(maker())
            *pushes, last = buffer.data["steps"] or [None]
            for step in pushes:
                new = decoder.push(step["id"])
                assert step["new"] == visible.visible(new.encode())
                held = decoder.pending[: stream_buffer.MAX_PENDING_SHOWN]
                assert bytes.fromhex("".join(byte for byte, *_ in step["held"])) == held
                assert [mark + bits for _, mark, bits in step["held"]] == [f"{byte:08b}" for byte in held]
            if last is not None:
                assert (last["id"], last["new"]) == (None, visible.visible(decoder.finish().encode()))
            whole = maker().decode(buffer.data["ids"])
            assert len("".join(part for step in buffer.data["steps"] for _, part in step["new"])) >= len(whole)

    def test_what_is_missing(self):
        """Every beginning of every kind of character, and what a decoder may hold besides."""
        for char in "é日\ud7ff😀\U0010ffff":
            data = char.encode()
            for have in range(1, len(data)):
                for before in (b"", b"a", "é日".encode()):
                    assert stream_buffer._incomplete_character(before + data[:have]) == (have, len(data))
        for whole in (b"", b"a", "é日😀".encode()):
            assert stream_buffer._incomplete_character(whole) == (0, 0)

    def test_an_emoji(self):
        plain_bytes = BPETokenizer(BPEModel.from_merges([(b"\x98", b"\x80")]), pattern=None)
        says = [step["say"] for step in StreamBuffer(plain_bytes, "a😀").data["steps"]]
        assert says == [
            "Push id 97, 61: “a” is shown, and nothing is held back.",
            "Push id 240, F0: nothing is shown, and 1 of the 4 bytes of a character is held back.",
            "Push id 159, 9F: nothing is shown, and 2 of the 4 bytes of a character are held back.",
            "Push id 256, 98 80: “😀” is shown, and nothing is held back.",
            "Finish: nothing was held back.",
        ]

    def test_what_waits_for_the_end(self):
        says = [step["say"] for step in StreamBuffer(spelling_tokenizer(), "a日").data["steps"]]
        assert says[-2:] == [
            "Push id 165, 3C 30 78 41 35 3E: nothing is shown, and 3 bytes are held back.",
            "Finish: the 3 bytes held back become “日”.",
        ]


class TestTokenView:
    def test_says_what_the_tokenizers_say(self):
        for text in [*texts(amount(20, 1000)), book_text()[:3000]]:
            view = TokenView(text, {"a": tokenizer(), "b": rank_tokenizer()})
            for which, panel in zip((tokenizer(), rank_tokenizer()), view.data["panels"], strict=True):
                assert panel["ids"] == which.encode(view.text)
                tokens = which.tokenize(view.text)
                assert [panel["tokens"][str(i)][1] for i in panel["ids"]] == [t.hex(" ").upper() for t in tokens]
                assert panel["starts"] == [sum(map(len, tokens[:i])) for i in range(len(tokens) + 1)]
                together = {i for first, last, _ in panel["split"] for i in range(first + 1, last + 1)}
                for i in range(1, len(tokens)):
                    at = panel["starts"][i]
                    inside_a_character = view.text.encode()[at] & 0xC0 == 0x80
                    assert (i in together) == inside_a_character

    def test_special_tokens_in_a_text_are_text(self):
        special = tokenizer().with_special_tokens(["<|end|>"])
        assert TokenView("<|end|>", special).data["panels"][0]["ids"] == special.encode_ordinary("<|end|>")

    def test_a_character_over_several_tokens(self):
        plain_bytes = BPETokenizer(BPEModel.from_merges([(b"\x98", b"\x80")]), pattern=None)
        (panel,) = TokenView("a😀é日", plain_bytes).data["panels"]
        assert panel["split"] == [[1, 3, "😀"], [4, 5, "é"], [6, 8, "日"]]
        joined = BPETokenizer(BPEModel.from_merges([(b"\xa9", b"\xc3")]), pattern=None)
        assert TokenView("éé", joined).data["panels"][0]["split"] == [[0, 2, "éé"]]

    def test_nothing_to_compare(self):
        with pytest.raises(BPELabError, match="nothing to compare"):
            TokenView("text", {})


class TestTemplateInspector:
    CONTROL = ("<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>")

    def attacks(self):
        rng = random.Random(11)
        for text in texts(amount(20, 1000)):
            yield text
            yield text[:20] + rng.choice(self.CONTROL) + text[20:40] + rng.choice(self.CONTROL)[rng.randint(0, 2) :]

    @pytest.mark.parametrize("template", ["chatml", "llama3"])
    def test_says_what_the_library_says(self, template):
        which = chat_tokenizer()
        for text in self.attacks():
            view = TemplateInspector(which, conversation(text), template)
            data, messages = view.data, conversation(view.text)
            ours, naive = (panel["tokens"] for panel in data["panels"])
            ids, mask = which.apply_chat_template(messages, template, return_assistant_mask=True)
            written = which.apply_chat_template(messages, template, tokenize=False)
            assert ([row[0] for row in ours], [row[4] for row in ours]) == (ids, mask)
            assert [row[0] for row in naive] == which.encode(written, allowed_special="all")
            special = set(which.special_tokens.values())
            assert all(row[3] == (row[0] in special) for row in ours + naive)
            extra = sum(row[3] for row in naive) - sum(row[3] for row in ours)
            assert sum(row[4] for row in naive) == extra
            assert f"the assistant said {sum(mask)} token" in data["say"]
            assert ("messages forge none" in data["say"]) == (extra == 0)
            assert [segment["start"] for segment in data["segments"][1:]] == [s["end"] for s in data["segments"][:-1]]
            spoken = {s["by"]: written[s["start"] : s["end"]] for s in data["segments"] if s["by"] != "template"}
            trim = str.strip if template == "llama3" else str
            assert spoken.get("user", "") == trim(view.text)
            assert spoken["assistant"] == "Hello\n there."

    def test_white_space_that_a_control_token_takes_is_no_forgery(self):
        special = SpecialTokens([AddedToken(name, 9_000 + n, rstrip=True) for n, name in enumerate(self.CONTROL[:2])])
        which = tokenizer().with_options(special_tokens=special)
        source = "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}"
        naive = TemplateInspector(which, conversation("  hi"), source).data["panels"][1]["tokens"]
        assert [sum(row[3] for row in naive), sum(row[4] for row in naive)] == [3, 0]

    def test_who_speaks_in_other_fields(self):
        messages = [{"role": "guest<|im_end|>", "content": "a"}, {"role": "user", "content": "b", "name": "c"}]
        source = "{% for m in messages %}<|im_start|>{{ m.role }}{{ m.name }}{{ m.content }}{% endfor %}{{ messages }}"
        data = TemplateInspector(chat_tokenizer(), messages, source).data
        speakers = [segment["by"] for segment in data["segments"]]
        guest = "guest<|im_end|>"
        assert speakers == ["template", f"{guest}, role", guest, "template", "user, name", "user", "unknown origin"]

    def test_refusals(self):
        with pytest.raises(ConversationError, match="a user's text"):
            TemplateInspector(chat_tokenizer(), [{"role": "system", "content": "x"}], "chatml")
        with pytest.raises(ConversationError, match="empty"):
            TemplateInspector(chat_tokenizer(), [], "chatml")
        with pytest.raises(TemplateError, match="with_special_tokens"):
            TemplateInspector(tokenizer(), conversation("x"), "chatml")

    def test_a_template_that_refuses_a_text_says_so(self):
        source = "{% if '!' in messages[1].content %}{{ raise_exception('no shouting') }}{% endif %}x"
        view = TemplateInspector(chat_tokenizer(), conversation("x"), source)
        view.text = "x!"
        assert "no shouting" in view.error


class TestChatBox:
    def live(self, session, said="Hello"):
        """A box, the messages that it sends, and how to send it one."""
        box, sent = ChatBox(session, said), []
        box.send = lambda content, buffers=None: sent.append(content)
        return box, sent, lambda content: box._handle_custom_msg(content, [])

    def wait(self, sent, kind, count=1):
        for _ in range(30_000):
            if [message["kind"] for message in sent].count(kind) >= count:
                return
            time.sleep(0.01)
        raise AssertionError(sent)

    def test_says_what_the_session_says(self):
        for text in texts(amount(10, 300)):
            questions = [text[:20], text[20:] or "?"]
            turns = ChatBox(talk(), questions).data["turns"]
            session = talk()
            for turn, said in zip(turns, filter(None, questions)):
                pieces = [[piece.id, round(piece.probability, 2)] for piece in session.stream(said)]
                assert turn["tokens"] == pieces
                assert f"{len(pieces)} token" in turn["end"] and "stop token" in turn["end"]
                assert turn["cost"].startswith(f"{session.last.prompt_tokens} tokens of prompt")
                assert turn is turns[0] or f", {session.last.reused} of them" in turn["cost"]

    def test_steps_are_counted_as_the_front_end_counts_them(self):
        data = ChatBox(talk(), ["one", "two", "three"]).data
        steps = sum((number > 0) + len(turn["tokens"]) + 1 for number, turn in enumerate(data["turns"]))
        assert data["count"] == steps

    def test_an_answer_comes_token_by_token(self):
        box, sent, send = self.live(talk())
        send({"kind": "ask", "text": "and <b>é"})
        self.wait(sent, "end")
        expected = ChatBox(talk(), ["Hello", "and <b>é"]).data
        pieces = sent[1:-1]
        assert [message["kind"] for message in sent] == ["begin", *["piece"] * len(pieces), "end"]
        assert [[piece["id"], piece["share"]] for piece in pieces] == expected["turns"][1]["tokens"]
        assert [piece["parts"] for piece in pieces] == [expected["tokens"][str(piece["id"])] for piece in pieces]
        assert box.data == {**expected, "start": expected["count"]}
        check(box)

    def test_an_answer_can_be_stopped_and_one_more_asked(self):
        session = talk(lambda said, turn: tiny_tokenizer().encode("word " * (40 if said == "slow" else 1)))
        box, sent, send = self.live(session)
        stopped = threading.Event()

        def before(held):
            if [message["kind"] for message in sent].count("piece") >= 3:
                assert stopped.wait(300)

        session.backend.before = before
        send({"kind": "ask", "text": "slow"})
        self.wait(sent, "piece", 3)
        send({"kind": "ask", "text": "not heard while the model speaks"})
        send({"kind": "cancel"})
        stopped.set()
        self.wait(sent, "end")
        assert box.data["turns"][-1]["end"].startswith("The answer was stopped: ")
        assert len(box.data["turns"][-1]["tokens"]) < 40
        box._worker.join(300)
        send({"kind": "ask", "text": "again"})
        self.wait(sent, "end", 2)
        assert [turn["end"].partition(":")[0][-7:] for turn in box.data["turns"]] == ["er ends", "stopped", "er ends"]

    def test_what_goes_wrong_is_a_sentence(self):
        session = talk()
        box, sent, send = self.live(session)
        before = box.data

        def fail(held):
            raise BackendError("the device is gone")

        session.backend.before = fail
        send({"kind": "ask", "text": "x"})
        self.wait(sent, "end")
        assert (box.error, box.data) == ("the device is gone", before)
        session.backend.before = lambda held: None
        send({"kind": "ask", "text": "x" * 400})
        self.wait(sent, "end", 2)
        assert box.error == "" and len(box.data["turns"]) == 2
        assert session.messages[2]["content"] == "x" * 300

    def test_what_is_no_message_is_left_alone(self):
        box, sent, send = self.live(talk())
        for content in ("ask", {}, {"kind": "ask"}, {"kind": "ask", "text": ""}, {"kind": 3}, {"kind": "cancel"}):
            send(content)
        assert box._worker is None and sent == []

    def test_refusals(self):
        assert ChatBox(talk(), []).data["say"] == "No text, so no answer."
        with pytest.raises(ConversationError):
            ChatBox(ChatSession(backend=Scripted("x", context=12), tokenizer=tiny_tokenizer()), "far too long " * 9)


def test_byte_inspector_says_what_python_says():
    for text in texts(amount(50, 2000)):
        inspector = ByteInspector(text)
        rows = inspector.data["characters"]
        assert len(rows) == len(inspector.text)
        for char, row in zip(inspector.text, rows):
            assert bytes.fromhex("".join(row["utf8"])).decode() == char
            assert bytes.fromhex("".join(row["utf16"])).decode("utf-16-be") == char
            assert int(row["utf32"], 16) == int(row["code"][2:], 16) == ord(char)
            assert row["category"].startswith(category(char))
            assert [mark + bits for mark, bits in row["bits"]] == [f"{byte:08b}" for byte in char.encode()]
            assert int("".join(bits for _, bits in row["bits"]), 2) == ord(char)
        for form in inspector.data["forms"]:
            normal = unicodedata.normalize(form["name"], inspector.text)
            assert (form["bytes"], form["same"]) == (len(normal.encode()), normal == inspector.text)


def test_labels_show_everything():
    rng = random.Random(1)
    for text in texts(amount(100, 5000)):
        data = text.encode("utf-8", "replace")
        first = rng.randint(0, len(data))
        token = data[first : first + rng.randint(0, 9)]
        shown = ""
        for kind, part in visible.visible(token):
            assert part and all(category(char)[0] not in "CZ" for char in part)
            assert category(part[0])[0] != "M"
            shown += part if kind != "x" else ""
        assert shown.count("U+") + len(shown) >= len(token.decode("utf-8", "ignore"))
    assert visible.visible("\u0301e\u0301".encode()) == [["u", "U+0301"], ["", "e\u0301"]]


class TestCostCalculator:
    def test_says_what_the_analysis_says(self):
        text = "the lamplighter’s café, 日本"
        few = BPETokenizer(BPEModel.from_merges([]))
        data = CostCalculator(text, {"few": few, "many": tokenizer()}, SHAPE, 2.5).data
        totals = []
        for row, chosen in zip(data["rows"], (few, tokenizer())):
            shape = replace(SHAPE, vocabulary=len(chosen))
            tokens, operations = len(chosen.encode(text)), shape.operations_for(len(chosen.encode(text)))
            totals.append(operations)
            assert row["cells"][1:3] == [f"{tokens:,}", f"{sum(operations.values()):,}"]
            assert row["cells"][4] == f"{sum(shape.weights.values()):,}"
            assert row["cells"][6] == f"{tokens * shape.cache_bytes:,} bytes"
            assert row["cells"][7] == f"{price({'read': tokens}, {'read': 2.5}):.6f}"
        most = max(sum(operations.values()) for operations in totals)
        for row, operations in zip(data["rows"], totals):
            assert row["lengths"] == pytest.approx([100 * part / most for part in operations.values()], abs=0.01)
            assert data["parts"] == list(operations)

    def test_needs_a_tokenizer(self):
        with pytest.raises(BPELabError, match="at least one"):
            CostCalculator("a", {}, SHAPE)
        for rate in (-1, float("nan"), float("inf"), "2"):
            with pytest.raises(BPELabError, match="rate must be a finite number"):
                CostCalculator("a", {"one": tokenizer()}, SHAPE, rate)


CALLS = {(1, 1): 0.5, (1, 2): 0.5, (4, 1): 1.0, (4, 2): 0.8}


class TestBatchSizes:
    def test_bars_are_what_was_measured(self):
        figure = BatchSizes(CALLS, 500)
        check(figure)
        small, large = figure.data["steps"]
        assert figure.data["names"] == ["1 thread", "2 threads"]
        assert small["labels"] == [["2,000", "2,000"], ["0.5 ms", "0.5 ms"]]
        assert large["labels"] == [["4,000", "5,000"], ["7 ms", "6.8 ms"]]  # three more, 2 ms apart
        assert [*small["rates"], *large["rates"]] == [40, 40, 80, 100]
        assert small["waits"] == [[0, 100], [0, 100]]
        assert large["waits"] == [pytest.approx([100 * 6 / 7, 100 * part / 7], abs=0.01) for part in (1, 0.8)]
        assert "waits 6 ms for the others, then 0.8 to 1 ms for the call." in figure.data["says"][1]
        assert figure.static_html().count("<tr>") == 1 + len(CALLS)
        assert BatchSizes({(1000, 1): 0.8}, 1e6).data["steps"][0]["labels"][0] == ["1,250,000"]

    def test_needs_every_size_with_the_same_threads(self):
        for times in ({}, {(1, 1): 0.5, (2, 2): 0.5}, {key: CALLS[key] for key in [*CALLS][:3]}):
            with pytest.raises(BPELabError, match="each batch size with each number"):
                BatchSizes(times, 500)
        for times, rate in (({(1, 1): 0.0}, 1), ({(0, 1): 1.0}, 1), ({(1, 1): 1.0}, 0), ({(1, 1): float("nan")}, 1)):
            with pytest.raises(BPELabError, match="above 0"):
                BatchSizes(times, rate)


class TestCoverTree:
    @staticmethod
    def written(cover, size):
        """The tokens of a cover with lines between them, and a plus where the prompt ends inside the last one."""
        *before, last = tokenizer().convert_ids_to_tokens(cover)
        cut = size - len(b"".join(before))
        parts = map(visible.plain_label, [*before, last[:cut]])
        return "|".join(parts) + ("+" + visible.plain_label(last[cut:]) if last[cut:] else "")

    def test_says_what_the_model_says(self):
        model, data = byte_model(), "the lamp é".encode()
        steps = CoverTree(model, data.decode()).data["steps"]
        assert len(steps) == len(data) + 1
        for size, step in enumerate(steps[1:], 1):
            shares, following = model.covers(data[:size]).shares, model.next_bytes(data[:size])
            told = {}
            for parts, share, _ in step["covers"]:
                signs = ["+" if kind == "beyond" else "|" for kind, _ in [*step["prompt"][:-1], *parts]]
                labels = [visible.label_text(label) for _, label in [*step["prompt"][:-1], *parts]]
                told["".join(sign + label for sign, label in zip(["", *signs[1:]], labels))] = share
            assert told == {self.written(cover, size): round(share, 4) for cover, share in [*shares.items()][:8]}
            assert f" has {len(shares):,} cover" in step["say"]
            likely = sorted([*following.probabilities.values(), following.end], reverse=True)
            assert [row[1] for row in step["next"]] == [round(share, 4) for share in likely if share >= 0.001][:8]
        assert any(row[0] == [["", [["", "end"]]]] for step in steps for row in step["next"])

    def test_covers_that_begin_alike_are_side_by_side(self):
        rows = CoverTree(byte_model(), "the lam").data["steps"][-1]["covers"]
        shared = [sum(kind == "shared" for kind, _ in parts) for parts, _, _ in rows]
        assert shared[0] == 0 and max(shared) > 0

    @pytest.mark.parametrize(
        ("only", "said"), [(b"a", "the likeliest next byte is “a”, 100 %"), (b"b", "nothing can come")]
    )
    def test_a_model_that_writes_one_token(self, only, said):
        of_ab = BPETokenizer.train("abab", 257)
        model = ByteModel(lambda ids: [0.0 if token == only[0] else -math.inf for token in range(257)], of_ab)
        assert CoverTree(model, "a").data["say"] == f"After “a” {said}. The prompt has 2 covers."


class TestTransitionPoint:
    def test_counts_are_those_of_the_tokenizers(self):
        measured, text = book_text()[30_000:40_000], "It was the end of the day. They said 日."
        data = TransitionPoint(late_tokenizers(), text, measured=measured).data
        assert data["points"] == ["400", "500", "600"]
        assert data["at"] == [point / 600 for point in (400, 500, 600)]
        for step, point in enumerate((400, 500, 600)):
            tokenizer = late_tokenizers()[point]
            assert data["counts"][step] == tokenizer.count_tokens(measured)
            tokens = tokenizer.convert_ids_to_tokens(tokenizer.encode(text))
            assert [data["labels"][label] for label in data["cuts"][step]] == [visible.visible(t) for t in tokens]
            beyond = {t for t in tokens if len(Split("cl100k").split(t.decode("utf-8", "ignore"))) > 1}
            marked = [data["labels"][label] for label in data["beyond"][step]]
            assert sorted(marked) == sorted(visible.visible(t) for t in beyond)
            ratio = f"{len(measured.split()) / data['counts'][step]:.2f} words each"
            assert ratio in data["says"][step] and f"{len(tokens)} tokens." in data["says"][step]
        assert data["beyond"][0] and not data["beyond"][2]
        assert data["says"][2].startswith("Words until 600 of 600 tokens, so no superwords: ")

    def test_half_a_character_is_no_superword(self):
        data = TransitionPoint({261: BPETokenizer.train("日本 日本 日本", 261)}, "日本", measured="a").data
        assert data["beyond"] == [[]]

    def test_the_still_has_every_transition_point(self):
        html = TransitionPoint(late_tokenizers(), "of the", measured="one of the best").static_html()
        assert html.count("<tr>") == 1 + 3 and "<td>500</td>" in html

    def test_needs_tokenizers_of_one_size_and_words(self):
        for tokenizers in ({}, {257: tokenizer(), **late_tokenizers()}):
            with pytest.raises(BPELabError, match="all of the same size"):
                TransitionPoint(tokenizers, "a", measured="a")
        with pytest.raises(BPELabError, match="no words to measure"):
            TransitionPoint(late_tokenizers(), "a", measured=" \n")


SOURCES = {path.name: path.read_text() for path in (files("bpelab.widgets") / "js").iterdir()}


class TestFrontEnd:
    def test_is_small(self):
        assert sum(len(source.encode()) for source in SOURCES.values()) < 140_000
        assert all(source.count("\n") < 200 for source in SOURCES.values())

    def test_every_figure_has_its_module(self):
        classes = [getattr(widgets, name) for name in widgets.__all__ if name != "Figure"]
        figures = {cls.name for cls in classes if issubclass(cls, widgets.Figure)}
        assert figures == set(sphinx.NAMES)
        parts = {*base.SHARED, *base.TOKENIZERS, *base.BOX, *base.OWN_TEXT, *base.MODEL, library.ENTRY, "page.js"}
        assert set(SOURCES) == {*(f"{name}.js" for name in figures), *parts}
        for name in figures:
            assert "export " not in SOURCES[f"{name}.js"] and "\nfunction render(" in SOURCES[f"{name}.js"]
            assert base.front_end(name).count("export ") == 1

    def test_no_html_no_network_no_code_from_text(self):
        for name, source in SOURCES.items():
            for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "fetch("):
                asked_for = (word, name) == ("fetch(", "kept_files.js")  # a vocabulary, from an address the page names
                assert word not in source or asked_for, name
            assert re.findall(r"https?://[^\"']*", source) in ([], ["http://www.w3.org/2000/svg"]), name

    def test_the_page_script_is_a_classic_one(self):
        script = sphinx.page_script()
        assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
        assert all(f"figures.{name} = " in script for name in sphinx.NAMES)


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_nothing_heavy_is_loaded_before_it_is_used():
    program = (
        "import sys, bpelab.widgets; assert 'TokenView' in dir(bpelab.widgets)\n"
        "print(*{'anywidget', 'traitlets', 'ipywidgets', 'IPython'} & set(sys.modules))"
    )
    assert run(program) == "\n"
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        widgets.Nothing  # noqa: B018


def test_a_missing_anywidget_is_named():
    program = (
        "import sys; sys.modules['anywidget'] = None\nimport bpelab.widgets\n"
        "try:\n    bpelab.widgets.MergePlayer\n"
        "except bpelab.MissingDependencyError as error:\n    print(error)"
    )
    assert install_command("chapters") in run(program)


class TestClusterStepper:
    @pytest.mark.parametrize(("parts", "workers"), [(1, 1), (2, 2), (3, 2), (6, 2), (8, 4)])
    def test_the_sum_is_that_of_the_text_whoever_is_lost(self, parts, workers):
        text = book_text()[1_000:1_400]
        data = ClusterStepper(text, parts=parts, workers=workers).data
        assert data["equal"] and "".join(data["parts"]) == text and len(data["parts"]) == parts
        assert data["steps"][-1]["say"].endswith("The sum is that of the whole text.")
        assert data["distinct"][-1] == len(set(Split("cl100k").split(text)))

    def test_what_a_lost_worker_kept_is_counted_again(self):
        data = ClusterStepper(book_text()[:400], parts=6, workers=2).data
        (lost,) = [n for n, step in enumerate(data["steps"]) if "is lost" in step["say"]]
        before, after = data["steps"][lost - 1]["states"], data["steps"][lost]["states"]
        gone = [part for part, state in enumerate(before) if state == 1]
        assert gone and all(after[part] == -1 for part in gone) and data["steps"][lost]["alive"] == [True, False]
        again = [step["say"] for step in data["steps"] if " again: " in step["say"]]
        assert len(again) == len(gone)

    def test_sizes_that_do_not_fit_are_refused(self):
        for sizes in ({"parts": 0}, {"parts": 9}, {"workers": 0}, {"workers": 5}):
            with pytest.raises(ValueError, match="1 to 8 parts and 1 to 4 workers"):
                ClusterStepper("a", **sizes)


class TestMaskStepper:
    @pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "qwen2", "o200k"])
    def test_its_pieces_are_the_pattern_s(self, pattern):
        for text in (
            "It's 2026,  we'll see\n\nitem: 12345\t(ok)",
            "HTTPServer's  \n  café Été",
            "a" * 80,
            " " * 64 + "a",
        ):
            figure, block = MaskStepper(text, pattern), text[:64]
            pieces = [block[start:end] for start, end in NamedMatcher(PATTERNS[pattern]).spans(block)]
            shown = ["".join(part for _, part in piece) for piece in figure.data["pieces"]]
            labels = ["".join(part for _, part in visible.visible(piece.encode())) for piece in pieces]
            assert shown == labels[: len(shown)]
            assert shown or block.isspace()

    def test_rows_are_masks_of_the_characters(self):
        rows = {row["name"]: row["bits"] for row in MaskStepper("a1 ,").data["rows"]}
        assert [rows[name] for name in ("letters", "digits", "white space", "all else")] == [
            "1000",
            "0100",
            "0010",
            "0001",
        ]
        assert rows["+ white space"] == "1110"  # a space before punctuation belongs to it

    def test_a_pattern_without_rules_is_refused(self):
        with pytest.raises(ValueError, match="has no rules"):
            MaskStepper("a", "superbpe")


class TestCacheStepper:
    def test_a_piece_is_found_if_it_was_met_before(self):
        text = book_text()[2_000:2_800]
        data, met = CacheStepper(tokenizer(), text).data, set()
        for piece, found in zip(tokenizer().pieces(text), data["found"], strict=True):
            assert found == (piece in met)
            met.add(piece)
        assert f"{sum(data['found'])} of {len(data['found'])} pieces found" in data["say"]

    def test_a_small_cache_forgets(self):
        assert sum(CacheStepper(tokenizer(), " a b c d e f g h a", 4).data["found"]) == 0
        assert sum(CacheStepper(tokenizer(), " a b c d e f g h a", 100).data["found"]) == 1
