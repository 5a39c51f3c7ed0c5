"""With torch, which `make test` never has, transformers reads what bpelab saves and gives tensors of its ids."""

import pytest

from bpelab import BPETokenizer
from bpelab.notebook import book_text

from .conftest import need

torch, transformers = need("torch"), need("transformers")


def test_a_batch_as_a_tensor(tmp_path):
    ours = BPETokenizer.train(book_text()[:30_000], 500, special_tokens=["<|pad|>"], pad_token="<|pad|>")
    ours.save(tmp_path)
    texts = ["the harbour", "naïve 日本 😀, and a longer one"]
    batch = transformers.AutoTokenizer.from_pretrained(tmp_path)(texts, return_tensors="pt", padding=True)
    assert batch["input_ids"].dtype == torch.int64
    for text, row, mask in zip(texts, batch["input_ids"], batch["attention_mask"]):
        assert row[mask.bool()].tolist() == ours.encode(text)
        assert set(row[~mask.bool()].tolist()) <= {ours.special_tokens["<|pad|>"]}


def test_our_own_tensors():
    ours = BPETokenizer.train(book_text()[:30_000], 500, special_tokens=["<|pad|>"], pad_token="<|pad|>")
    texts = ["the harbour", "naïve 日本 😀, and a longer one"]
    options = {"padding": True, "return_offsets": True, "return_token_type_ids": True}
    lists, tensors = ours(texts, **options), ours(texts, return_tensors="pt", **options)
    assert {tensor.dtype for tensor in tensors.values()} == {torch.int64}
    assert {name: tensor.tolist() for name, tensor in tensors.items() if name != "offset_mapping"} == {
        name: rows for name, rows in lists.items() if name != "offset_mapping"
    }
    assert tensors["offset_mapping"].shape == (*tensors["input_ids"].shape, 2)
    assert ours("the harbour", return_tensors="pt")["input_ids"].shape == (1, len(ours.encode("the harbour")))
    assert ours.decode_batch(tensors["input_ids"]) == texts
    with pytest.raises(ValueError, match="padding=True"):
        ours(texts, return_tensors="pt")
