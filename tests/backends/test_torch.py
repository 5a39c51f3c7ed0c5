"""With torch, which `make test` never has, transformers reads what bpelab saves and gives tensors of its ids."""

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
