"""Pruning: what goes, in which order, what stays reachable and lossless, and the way back from an extension."""

import random
from collections import Counter

import pytest

from bpelab import BPEModel, BPETokenizer, TemplateProcessing
from bpelab.analysis.tokens import never_merged
from bpelab.core.derivations import derive_tokens
from bpelab.editing import extend, prune
from bpelab.encoders.heap import HeapEncoder
from bpelab.errors import VocabularyError
from bpelab.model.initial_symbols import token_initial_symbols

from ..conftest import amount
from ..random_tokenizers import KINDS, random_corpus, random_text, random_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:training stopped")


def made_of_itself(model: BPEModel, token_id: int) -> bool:
    """Whether merging a token's initial symbols makes it."""
    return HeapEncoder(model).merge(token_initial_symbols(model, model.tokens[token_id])) == [token_id]


def reachable(model: BPEModel) -> set[bytes]:
    return {token for token_id, token in model.tokens.items() if made_of_itself(model, token_id)}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_is_reachable_and_lossless(kind):
    """And a text whose merges, also those in between, make no token that went has the ids that it had."""
    gone = same = 0
    for seed in range(amount(6, 500 // len(KINDS) + 1)):
        rng = random.Random(f"{kind} {seed}")
        old, texts = random_tokenizer(rng, kind), random_corpus(rng)
        most = len([*prune(old, corpus=texts, min_frequency=1 << 60).removed])
        keep = len(old) - rng.randint(0, most)
        new, ids, removed = prune(old, corpus=texts if rng.random() < 0.8 else None, keep=keep)
        assert len(new) == keep and len(removed) == len(old) - keep == len(set(removed))
        assert ids.keys() == set(old.get_vocab().values()) - set(removed)
        assert all(new.id_to_token(ids[i]) == old.id_to_token(i) for i in ids)
        assert list(ids.values()) == sorted(set(ids.values()))  # the order of ids is kept
        assert set(old.model.alphabet) == set(new.model.alphabet)
        assert [token.content for token in new.added_tokens] == [token.content for token in old.added_tokens]
        kept = {old.model.tokens[i] for i in ids if i in old.model.tokens}
        assert reachable(old.model) & kept <= reachable(new.model), seed
        assert set(derive_tokens(new.model).unreachable) <= {ids.get(i) for i in derive_tokens(old.model).unreachable}
        gone += len(removed)
        for text in [*texts, *(random_text(rng) for _ in range(6))]:
            if old.model.is_byte_level:
                assert new.decode(new.encode(text)) == text
            assert new.decode(new.encode(text)) == old.decode(old.encode(text))
            if not merged_on_the_way(old, text) & set(removed):
                same += 1
                assert new.encode(text) == [ids[i] for i in old.encode(text)], (seed, text)
    assert gone > 20 and same > 3


def merged_on_the_way(tokenizer: BPETokenizer, text: str) -> set[int]:
    """The ids of all tokens that encoding a text makes, those included that go on to merge."""
    pipeline, made = tokenizer.pipeline, set(tokenizer.encode(text))
    for segment, token_id, first in pipeline.segments(text, frozenset()):
        for piece in pipeline.pre_tokenize(segment, first) if token_id is None else ():
            HeapEncoder(tokenizer.model).encode_piece(
                pipeline.to_bytes(piece), lambda step: made.add(step.token) if hasattr(step, "token") else None
            )
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_extended_and_pruned_is_the_original(kind, tmp_path):
    """The same tokenizer, the same ids, and the same file, byte by byte, where there is one."""
    for seed in range(amount(4, 500 // len(KINDS) + 1)):
        rng = random.Random(f"{kind} {seed} there and back")
        old, texts = random_tokenizer(rng, kind), random_corpus(rng)
        new = extend(old, texts, rng.randint(1, 30), min_frequency=rng.choice((1, 2)))
        added = new.model.tokens.keys() - old.model.tokens.keys()
        back, ids, removed = prune(new, remove=rng.sample(sorted(added), len(added)))
        assert back == old and set(removed) == added and all(key == value for key, value in ids.items()), seed
        assert dict(back.model.tokens) == dict(old.model.tokens) and back.n_vocab == old.n_vocab
        assert [back.encode(text) for text in texts] == [old.encode(text) for text in texts]
        if seed % 5 == 0 and kind not in ("ranks", "list", "own ids", "scores"):
            back.save(tmp_path / "back")
            old.save(tmp_path / "old")
            for name in ("tokenizer.json", "tokenizer_config.json"):
                assert (tmp_path / "back" / name).read_bytes() == (tmp_path / "old" / name).read_bytes()


def test_the_order_leaves_first_and_the_least_used_first():
    """Against a selection that is made anew for each token, from all that there are."""
    for seed in range(amount(40, 500)):
        rng = random.Random(seed)
        old = random_tokenizer(rng, rng.choice(("trained", "trained ranks", "list")))
        texts = random_corpus(rng)
        uses = Counter(i for text in texts for i in old.encode(text, allowed_special="all"))
        derived, rank = derive_tokens(old.model), dict(old.model.recovered_merges.rank_of)
        left, expected = dict(derived.parts), list(reversed(derived.unreachable))
        while left:
            leaves = [i for i in left if not any(i in pair for pair in left.values())]
            token_id = min(leaves, key=lambda i: (uses[i], -rank[i]))
            for part in left.pop(token_id):
                uses[part] += uses[token_id]
            expected.append(token_id)
        assert prune(old, corpus=texts, keep=len(old) - len(expected)).removed == tuple(expected), seed


def test_only_what_is_used_less_often():
    old = BPETokenizer.train("low lower lowest newest widest " * 9, 280, special_tokens=["<|end|>"])
    text = "low lower <|end|> lowest " * 3
    unused = prune(old, corpus=text, min_frequency=1)
    assert len(unused.removed) > 0 and unused.tokenizer.encode(text) == [unused.ids[i] for i in old.encode(text)]
    needed = {part for pair in derive_tokens(unused.tokenizer.model).parts.values() for part in pair}
    used = set(unused.tokenizer.encode(text))
    assert all(i in used or i in needed for i in derive_tokens(unused.tokenizer.model).parts)
    fewer = prune(old, corpus=text, min_frequency=4, keep=len(old) - 3)
    assert fewer.removed == unused.removed[:3]


def test_without_a_corpus_training_is_undone():
    """Down to the size that training would have stopped at."""
    for size in (257, 265, 275):
        texts = ["low lower lowest newest widest the thesis " * 9]
        whole = BPETokenizer.train(texts, 300, special_tokens=["<|end|>"])
        assert prune(whole, keep=size).tokenizer == BPETokenizer.train(texts, size, special_tokens=["<|end|>"])


def test_tokens_that_no_text_reaches():
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"abc": 300, b"de": 301}
    old = BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=False), special_tokens={"<|end|>": 400})
    new, ids, removed = prune(old, remove=never_merged(old))
    assert removed == (300,) and ids[301] == 300 and new.special_tokens == {"<|end|>": 399}
    assert new.n_vocab == 400 and never_merged(new) == []
    assert prune(old, keep=len(old) - 1).removed == (300,)


def test_named_tokens():
    old = BPETokenizer.train("low lower lowest " * 9, 262, special_tokens=["<s>", "</s>"], eos_token="</s>")
    assert {b"lo", b"low"} <= old.model.ids.keys()
    with pytest.raises(VocabularyError, match=r"'lo', can't go: token \d+, 'low', is made of it"):
        prune(old, remove=[b"lo"])
    made = [token for token in old.model.tokens.values() if b"lo" in token]
    assert not any(b"lo" in token for token in prune(old, remove=made).tokenizer.model.tokens.values())
    without = prune(old, remove=["</s>"]).tokenizer
    assert without.special_tokens == {"<s>": 260} and without.eos_token is None
    for named, problem in ((b"a", "could not be encoded"), (b"zz", "no such token"), (9_999, "no such token")):
        with pytest.raises(VocabularyError, match=problem):
            prune(old, remove=[named])
    with pytest.raises(TypeError, match="list"):
        prune(old, remove=b"lo")
    with pytest.raises(TypeError, match="integer"):
        prune(old, remove=[2.5])


def test_bytes_that_spell_and_the_unknown_token():
    rng = random.Random(5)
    old = next(
        made for made in iter(lambda: random_tokenizer(rng, "scores"), None) if made.model.initial_symbols.byte_tokens
    )
    for named in (old.model.initial_symbols.unk_id, old.model.initial_symbols.byte_tokens[0x41]):
        with pytest.raises(VocabularyError, match="can't go"):
            prune(old, remove=[named])
    needed = {part for pair in derive_tokens(old.model).parts.values() for part in pair}
    char, token_id = next((symbol, i) for symbol, i in old.model.alphabet.items() if i not in needed)
    text = char.decode() * 2
    new = prune(old, remove=[token_id]).tokenizer
    assert new.decode(new.encode(text)) == old.decode(old.encode(text)) and len(new.encode(text)) > 2


def test_what_a_post_processor_and_padding_name_moves_or_stays():
    from bpelab.model_inputs import Padding
    from bpelab.postprocessors import BertProcessing, ProcessorSequence, RobertaProcessing

    special = {"<s>": 400, "</s>": 401}
    template = TemplateProcessing(("<s>", "$A", "<x>"), special_tokens={"<x>": 400})
    pair = {"sep": ("</s>", 401), "cls": ("<s>", 400)}
    model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    for processor in (template, BertProcessing(**pair), ProcessorSequence((RobertaProcessing(**pair),))):
        old = BPETokenizer(model, special_tokens=special, post_processor=processor, padding=Padding(pad_id=401))
        new = prune(old, remove=[b"low"]).tokenizer
        assert new.encode("lo") == [i if i < 257 else i - 1 for i in old.encode("lo")]
        assert new.spec.padding.pad_id == 400
        with pytest.raises(VocabularyError, match="post-processor"):
            prune(old, remove=["<s>"])


def test_what_is_refused():
    old = BPETokenizer.train("low lower lowest " * 9, 262)
    for arguments, problem in (
        ({}, "say what to take"),
        ({"remove": [b"low"], "keep": 9}, "leave out"),
        ({"min_frequency": 1}, "corpus is missing"),
        ({"keep": 999}, "has 262 tokens"),
        ({"keep": 9}, "256 tokens are initial symbols"),
        ({"corpus": "", "keep": 260}, "empty"),
        ({"corpus": "low", "min_frequency": 0}, "min_frequency"),
    ):
        with pytest.raises(ValueError, match=problem):
            prune(old, **arguments)
    for arguments in ({"keep": 2.5}, {"corpus": "low", "min_frequency": "1"}):
        with pytest.raises(TypeError, match="integer"):
            prune(old, **arguments)
