"""The measures of bpelab.analysis: cases computed by hand, and twins that count in the dullest way."""

import math
import random
from collections import Counter

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.analysis.compression import compression, ratio, renyi_efficiency
from bpelab.analysis.cost import Capacity, context_capacity, memory_capacity, price, vocabulary_share
from bpelab.analysis.domains import domain_shift
from bpelab.analysis.fairness import tokenization_premiums
from bpelab.analysis.numbers import direction, number_cuts, number_shape
from bpelab.analysis.shape import ModelShape
from bpelab.analysis.tokens import longest_tokens, never_merged, overlap, unreachable_alone
from bpelab.analysis.whitespace import indentation, run_lengths
from bpelab.errors import BPELabError
from bpelab.notebook import book_text
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, encoding, fuzz_text

BYTES = BPETokenizer(BPEModel.from_merges([]))


@pytest.fixture(scope="module")
def trained() -> BPETokenizer:
    return BPETokenizer.train(book_text()[:60_000], 1200, progress=False)


def test_bytes_alone_count_bytes():
    found = compression(BYTES, "né\tb")
    assert (found.bytes, found.characters, found.words, found.tokens, found.distinct_tokens) == (5, 4, 2, 5, 5)
    assert (found.bytes_per_token, found.characters_per_token, found.fertility) == (1, 0.8, 2.5)
    assert found.share_used == 5 / 256


def test_nothing_is_not_a_number_and_no_crash():
    for text in ("", "  \n"):
        found = compression(BYTES, text)
        assert found.tokens == len(text)
        assert math.isnan(found.fertility)
    assert math.isnan(compression(BYTES, "").bytes_per_token)
    assert math.isnan(compression(BYTES, "").renyi_efficiency)
    assert math.isnan(tokenization_premiums(BYTES, {"a": "", "b": "x"}, "a")["b"].premium)
    assert math.isnan(number_cuts(BYTES, []).consistency)
    assert math.isnan(indentation(BYTES, "").tokens_per_line)


def test_compression_against_a_dull_twin(trained):
    rng = random.Random(15)
    for _ in range(amount(60, 3000)):
        text = fuzz_text(rng)
        found = compression(trained, text)
        ids = trained.encode(text)
        data = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert found.tokens == len(ids) == sum(found.uses.values())
        assert found.uses == Counter(ids)
        assert found.bytes == sum(len(trained.model.tokens[token_id]) for token_id in ids) == len(data.encode())
        assert found.words == len(data.split())


def test_special_tokens_and_a_post_processor_do_not_count():
    tokenizer = BPETokenizer(BPEModel.from_merges([]), special_tokens={"<|end|>": 256})
    assert compression(tokenizer, "<|end|>").tokens == 7


class TestRenyi:
    def test_by_hand(self):
        # shares 1/2, 1/4, 1/4: sum of squares 3/8, H = log(8/3)
        assert renyi_efficiency([2, 1, 1], 3, 2) == pytest.approx(math.log(8 / 3) / math.log(3))
        assert renyi_efficiency([2, 1, 1], 3, 1) == pytest.approx(1.5 * math.log(2) / math.log(3))
        assert renyi_efficiency([2, 1, 1], 4, 0) == pytest.approx(math.log(3) / math.log(4))  # Hartley: types alone

    def test_as_the_authors_package_prints_it(self):
        """The two examples in the README of tokenization-scorer, whose vocabulary is the types that occur.

        It prints them under `power=2.5`; they are those of 3, which was the default.
        """
        one = Counter(["pick", "@@ed", "pick", "@@l", "@@ed", "pick", "@@les"])
        two = Counter(["pick", "@@e", "@@d", "pick", "@@l", "@@e", "@@d", "pick", "@@l", "@@e", "@@s"])
        assert renyi_efficiency(one.values(), len(one), 3) == pytest.approx(0.8031528501359657)
        assert renyi_efficiency(two.values(), len(two), 3) == pytest.approx(0.9105681923824472)

    def test_even_is_one_and_one_token_is_zero(self):
        for alpha in (0.5, 1, 2.5, 7):
            assert renyi_efficiency([3] * 8, 8, alpha) == pytest.approx(1)
            assert renyi_efficiency([9], 8, alpha) == 0
        assert str(renyi_efficiency([9], 8)) == "0.0"

    def test_powers_too_small_for_a_float(self):
        assert renyi_efficiency([1] * 100_000, 100_000, 100) == 1
        assert renyi_efficiency([1, 2], 4, math.inf) == pytest.approx(math.log(3 / 2) / math.log(4))
        for alpha in (1e4, 1e15, 1e308):  # near the min-entropy
            assert renyi_efficiency([5, 3, 1], 9, alpha) == pytest.approx(math.log(9 / 5) / math.log(9), rel=1e-3)
        assert renyi_efficiency([10**300, 1], 2, 2) == pytest.approx(0, abs=1e-9)

    def test_logarithms_against_the_powers_themselves(self):
        rng = random.Random(2)
        for _ in range(amount(50, 2000)):
            counts = [rng.randint(1, 1000) for _ in range(rng.randint(1, 30))]
            alpha = rng.choice([0, 0.3, 2, 2.5, 6])
            power_sum = sum((count / sum(counts)) ** alpha for count in counts)
            expected = math.log(power_sum) / (1 - alpha) / math.log(40)
            assert renyi_efficiency(counts, 40, alpha) == pytest.approx(expected, abs=1e-12)

    def test_alpha_near_one_is_shannon(self):
        counts = [9, 4, 4, 1]
        assert renyi_efficiency(counts, 9, 1 + 1e-7) == pytest.approx(renyi_efficiency(counts, 9, 1), abs=1e-6)

    def test_higher_orders_are_never_higher(self):
        rng = random.Random(1)
        for _ in range(amount(50, 2000)):
            counts = [rng.randint(1, 100) for _ in range(rng.randint(2, 9))]
            values = [renyi_efficiency(counts, 9, alpha) for alpha in (0, 0.5, 1, 2, 2.5, 9)]
            assert all(a >= b - 1e-12 for a, b in zip(values, values[1:]))

    def test_refuses(self):
        for alpha in (-1, math.nan):
            with pytest.raises(ValueError, match="alpha"):
                renyi_efficiency([1], 2, alpha)
        for counts in ([3, -1], [math.nan], [1, math.inf]):
            with pytest.raises(ValueError, match="counts must be from 0"):
                renyi_efficiency(counts, 9)
        with pytest.raises(ValueError, match="counts are of 3 tokens, and the vocabulary has 2"):
            renyi_efficiency([1, 1, 0, 1], 2)
        assert renyi_efficiency([1, 1, 0, 0], 2) == 1
        assert math.isnan(renyi_efficiency([], 2))
        assert math.isnan(renyi_efficiency([1], 1))


def test_parity_by_hand():
    found = tokenization_premiums(BYTES, {"a": "abcd", "b": "éé"}, "a")
    assert (found["b"].tokens, found["b"].premium, found["b"].byte_premium) == (4, 1, 1)
    assert found["b"].tokenizer_premium == 1
    with pytest.raises(KeyError, match="not one of a"):
        tokenization_premiums(BYTES, {"a": "x"}, "z")


class TestNumbers:
    def test_shapes(self):
        model = BPEModel.from_merges([(b"1", b"2"), (b"12", b"3")])
        tokenizer = BPETokenizer(model, pattern=None)
        assert number_shape(tokenizer, 12312) == (3, 2)
        assert number_shape(tokenizer, 12312, " ") == (3, 2)
        assert number_shape(tokenizer, "") == ()

    def test_direction_against_its_definition(self):
        rng = random.Random(3)
        for _ in range(amount(500, 20_000)):
            shape = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 5)))
            size, total = max(shape), sum(shape)
            left = tuple([size] * (total // size) + ([total % size] if total % size else []))
            right = left[::-1]
            expected = "mixed"
            if len(shape) == 1:
                expected = "whole"
            elif size == 1:
                expected = "digits"
            elif shape == left == right:
                expected = "both"
            elif shape == left:
                expected = "left"
            elif shape == right:
                expected = "right"
            assert direction(shape) == expected, shape

    def test_single_bytes_are_digits(self):
        found = number_cuts(BYTES, range(10, 1000))
        assert found.directions == {"digits": 990}
        assert (found.consistency, found.numbers) == (1, 990)
        assert found.tokens_per_number == (90 * 2 + 900 * 3) / 990

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
    def test_published_ones_cut_threes_from_the_left(self, name):
        encoding(name)
        found = number_cuts(BPETokenizer.from_tiktoken(name))
        assert found.directions == {"left": 9000, "whole": 1000}
        assert (found.consistency, found.tokens_per_number) == (1, 1.9)

    def test_gpt2_cuts_as_its_merges_fall(self):
        theirs = encoding("gpt2")
        found = number_cuts(BPETokenizer.from_tiktoken("gpt2"))
        lengths = [len(theirs.encode(str(number))) for number in range(10_000)]
        assert found.tokens_per_number == sum(lengths) / 10_000
        assert found.consistency < 0.7


class TestWhiteSpace:
    def test_runs(self):
        tokenizer = BPETokenizer(BPEModel.from_merges([(b" ", b" "), (b"  ", b"  ")]), pattern=None)
        assert run_lengths(tokenizer, " ", 9) == [1, 1, 2, 1, 2, 2, 3, 2, 3]
        assert run_lengths(tokenizer, "\t", 3, "x") == [2, 3, 4]

    def test_runs_of_published_ones(self):
        theirs = encoding("cl100k_base")
        ours = BPETokenizer.from_tiktoken("cl100k_base")
        for char, after in ((" ", ""), (" ", "x"), ("\t", ""), ("\n", "")):
            expected = [len(theirs.encode(char * size + after)) for size in range(1, 65)]
            assert run_lengths(ours, char, after=after) == expected

    def test_indentation(self):
        found = indentation(BYTES, "if x:\n\n\ty\n")
        assert (found.lines, found.tokens, found.blank) == (2, 10, 5)
        assert (found.tokens_per_line, found.blank_share) == (5, 0.5)


def test_domain_shift(trained):
    shift = domain_shift(trained, book_text()[:5000], "%~$" * 50)
    assert shift.home == compression(trained, book_text()[:5000])
    assert shift.loss == 1 - shift.away.bytes_per_token / shift.home.bytes_per_token > 0.5


class TestVocabulary:
    def test_longest(self, trained):
        found = longest_tokens(trained, 2000)
        assert len(found) == 1200
        assert longest_tokens(trained, 0) == []
        with pytest.raises(BPELabError, match="number must be an integer from 0"):
            longest_tokens(trained, -1)
        assert [len(token) for _, token in found] == sorted(map(len, trained.model.tokens.values()), reverse=True)

    def test_what_no_merge_makes(self):
        ranks = {bytes([byte]): byte for byte in range(256)} | {b"abc": 256, b"ab": 257, b"xyz": 258}
        tokenizer = BPETokenizer(BPEModel.from_ranks(ranks))
        assert tokenizer.encode("aabc xyz xyzz")[:2] == [97, 256]  # abc ranks before its part, and merges all the same
        assert never_merged(tokenizer) == [258]
        listed = BPEModel.from_merges([(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")])
        lost = never_merged(BPETokenizer(listed))
        texts = {bytes(random.Random(seed).choices(b"abc", k=8)) for seed in range(400)}
        seen = {token for text in texts for token in BPETokenizer(listed, pattern=None).encode(text.decode())}
        assert lost == [258]
        assert not seen & set(lost)

    def test_added_tokens_are_no_business_of_merges(self):
        special = SpecialTokens({"<|end|>": 256})
        tokenizer = BPETokenizer(BPEModel.from_merges([]), special_tokens=special)
        assert never_merged(tokenizer) == unreachable_alone(tokenizer) == []

    def test_unmet_is_found_by_no_text_that_was_tried(self, trained):
        """Everything that some text gives is met; the pattern of another tokenizer cuts tokens that were learned."""
        whole = BPETokenizer.train(book_text()[:20_000], 700, pattern=None, progress=False).model
        cut = BPETokenizer(whole, pattern="cl100k")
        lost = set(unreachable_alone(cut))
        assert lost
        assert not lost & set(cut.encode(book_text()))
        assert unreachable_alone(BPETokenizer(whole, pattern=None)) == []
        assert not set(unreachable_alone(trained)) & set(trained.encode(book_text()))

    @pytest.mark.slow
    def test_unmet_of_published_ones(self):
        encoding("o200k_base")
        assert unreachable_alone(BPETokenizer.from_tiktoken("o200k_base")) == []

    def test_unmet_refuses_characters(self):
        from bpelab.model.initial_symbols import InitialSymbols

        model = BPEModel({0: b"a"}, {}, {b"a": 0}, initial_symbols=InitialSymbols(characters=True))
        with pytest.raises(BPELabError, match="characters"):
            unreachable_alone(BPETokenizer(model))

    def test_overlap(self, trained):
        other = BPETokenizer.train(book_text()[:20_000], 700, progress=False)
        found = overlap(trained, other)
        shared = {*trained.model.tokens.values()} & {*other.model.tokens.values()}
        assert found.shared == len(shared)
        assert found.share_of_first == len(shared) / 1200
        assert found.share_of_second == len(shared) / 700
        assert overlap(trained, trained).same_id == 1200


CONFIG = {
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "hidden_size": 64,
    "intermediate_size": 256,
    "vocab_size": 1000,
}


class TestCost:
    llama = ModelShape(32, 32, 8, 128, 4096, 14336, 128256)

    def test_the_weights_of_a_published_shape(self):
        """Llama 3 8B has 8,030,261,248 weights; 65 norms of 4,096 are what is left out here."""
        assert sum(self.llama.weights.values()) == 8_030_261_248 - 65 * 4096

    def test_the_weights_of_the_shipped_model(self):
        import json

        from bpelab.chat.models.find import SHIPPED
        from bpelab.chat.models.tensor_headers import safetensors_tensors

        config = json.loads((SHIPPED / "config.json").read_text())
        shape = ModelShape.from_config(config)
        assert shape.weights["output"] == 0
        tensors = safetensors_tensors(SHIPPED / "model.safetensors")
        stored = sum(math.prod(tensor.shape) for tensor in _each(tensors))
        norms = (2 * config["num_hidden_layers"] + 1) * config["hidden_size"]
        assert sum(shape.weights.values()) == stored - norms

    def test_cache(self):
        assert self.llama.cache_bytes == 2 * 32 * 8 * 128 * 2

    def test_operations_by_a_loop_over_the_matrices(self):
        shape = ModelShape(3, 6, 2, 8, 40, 100, 500)
        matrices = [(40, 48), (40, 16), (40, 16), (48, 40), (40, 100), (40, 100), (100, 40)]
        per_layer = sum(2 * rows * columns for rows, columns in matrices)
        for before in (1, 7, 100):
            scores = 2 * 6 * 8 * before + 2 * 6 * before * 8  # each head: a product with each key, a sum of values
            total = 3 * (per_layer + scores) + 2 * 40 * 500
            assert sum(shape.operations(before).values()) == total
        looped = sum(sum(shape.operations(n).values()) for n in range(1, 21))
        assert sum(shape.operations_for(20).values()) == looped
        assert sum(shape.operations_for(0).values()) == 0

    def test_ungated_and_tied(self):
        shape = ModelShape(1, 2, 2, 4, 8, 32, 10, gated=False, tied=True)
        assert shape.weights == {"embedding": 80, "attention": 4 * 64, "feed-forward": 2 * 8 * 32, "output": 0}
        assert shape.operations(1)["output"] == 160
        share, work = vocabulary_share(shape)
        assert share == 80 / (80 + 256 + 512)
        assert work == 160 / sum(shape.operations(1).values())

    def test_room(self):
        text = compression(BYTES, "ab cd ")
        shape = ModelShape(1, 1, 1, 1, 1, 1, 1)
        assert memory_capacity(shape, shape.weight_bytes + 4 * 6 + 3, text, 2) == Capacity(6, 2, 1)
        assert memory_capacity(shape, 0, text).tokens == 0
        assert context_capacity(9, text, 3) == Capacity(9, 3, 1)
        assert context_capacity(0, text).pages == 0

    @pytest.mark.parametrize("bad", [math.inf, math.nan, -1, "4", None, True])
    def test_room_refuses(self, bad):
        text = compression(BYTES, "ab cd ")
        with pytest.raises(BPELabError, match="memory must be a finite number"):
            memory_capacity(self.llama, bad, text)
        with pytest.raises(BPELabError, match="words_per_page must be a finite number, above 0"):
            memory_capacity(self.llama, 1e12, text, bad)
        with pytest.raises(BPELabError, match="context must be an integer from 0"):
            context_capacity(bad, text)
        with pytest.raises(BPELabError, match="words_per_page"):
            memory_capacity(self.llama, 1e12, text, 0)
        with pytest.raises(BPELabError, match="text has no tokens"):
            memory_capacity(self.llama, 1e12, compression(BYTES, ""))

    def test_prices_are_the_readers(self):
        assert price({"read": 3, "written": 2}, {"read": 1.0, "written": 10.0, "cached": 5}, per=1) == 23
        with pytest.raises(BPELabError, match="no price for 'written' in prices"):
            price({"written": 1}, {"read": 1.0})
        for bad in (-1, math.nan, math.inf, "2", None):
            with pytest.raises(BPELabError, match=r"prices\['read'\] must be a finite number"):
                price({"read": 1}, {"read": bad})
            with pytest.raises(BPELabError, match=r"tokens\['read'\] must be an integer"):
                price({"read": bad}, {"read": 1.0})
            with pytest.raises(BPELabError, match="per must be a finite number, above 0"):
                price({"read": 1}, {"read": 1.0}, per=bad)
        with pytest.raises(BPELabError, match="per must be"):
            price({"read": 1}, {"read": 1.0}, per=0)

    def test_refuses(self):
        for bad in (0, -1, 2.5, "2", None, True, math.nan, 10**400):
            with pytest.raises(BPELabError, match="layers must be an integer from 1"):
                ModelShape(bad, 1, 1, 1, 1, 1, 1)
        for bad in (0, -1, "2", None, math.nan, math.inf):
            with pytest.raises(BPELabError, match="bytes_per_weight must be a finite number, above 0"):
                ModelShape(1, 1, 1, 1, 1, 1, 1, bytes_per_weight=bad)
        with pytest.raises(BPELabError, match="tied must be True or False"):
            ModelShape(1, 1, 1, 1, 1, 1, 1, tied="no")
        with pytest.raises(BPELabError, match="hidden_size"):
            ModelShape.from_config({"num_hidden_layers": 1, "num_attention_heads": 1})

    @pytest.mark.parametrize("key", CONFIG)
    def test_a_config_with_a_number_that_is_none(self, key):
        name = {"num_hidden_layers": "layers", "num_attention_heads": "heads", "hidden_size": "hidden"}.get(key, "")
        for bad in (0, -4, "4", 2.5, True, [4], {}):
            with pytest.raises(BPELabError, match=f"{name}.* must be an integer"):
                ModelShape.from_config({**CONFIG, key: bad})
        for lacking in ({**CONFIG, key: None}, {k: v for k, v in CONFIG.items() if k != key}):
            with pytest.raises(BPELabError, match=f"has no '{key}'"):
                ModelShape.from_config(lacking)

    def test_changes_go_first(self):
        assert ModelShape.from_config(CONFIG, layers=3, tied=True) == ModelShape(3, 4, 4, 16, 64, 256, 1000, tied=True)

    def test_gpt2s_own_names(self):
        """The smallest GPT-2 has 124,439,808 weights. Left out here: positions, biases, norms."""
        config = {"n_layer": 12, "n_head": 12, "n_embd": 768, "n_positions": 1024, "n_inner": None, "vocab_size": 50257}
        shape = ModelShape.from_config(config)
        biases = 12 * (
            4 * 768 + 4 * 768
        )  # of attention's four matrices, and of the feed-forward's two: 4 + 1 times 768
        biases += 12 * 768
        assert sum(shape.weights.values()) == 124_439_808 - 1024 * 768 - biases - 25 * 2 * 768
        assert ModelShape.from_config({**config, "n_inner": 100, "tie_word_embeddings": False}).feed_forward == 100
        assert not ModelShape.from_config({**config, "tie_word_embeddings": False}).tied

    def test_a_model_of_more_than_text(self):
        vision = {"hidden_size": 7, "num_hidden_layers": 70}
        nested = {"vision_config": vision, "text_config": CONFIG, "tie_word_embeddings": True}
        assert ModelShape.from_config(nested) == ModelShape.from_config(CONFIG, tied=True)


def _each(tensors):
    return tensors.values() if hasattr(tensors, "values") else tensors


def test_ratio():
    assert ratio(1, 2) == 0.5
    assert math.isnan(ratio(0, 0))
