"""One encoder, used by many threads at once: `python -m tests.native.threads`, with the extension in BPELAB_CORE.

For ThreadSanitizer, which reports memory that two threads access without synchronization.
"""

from concurrent.futures import ThreadPoolExecutor

from bpelab import BPETokenizer, native
from bpelab.notebook import book_text
from bpelab.pretokenizers.split import Split

from . import sanitized  # noqa: F401 - loads the extension in BPELAB_CORE


def main() -> None:
    model = BPETokenizer.train(book_text()[:60_000], 900, trainer="incremental", encoder="heap").model
    encoder, decoder = native.encoder_for(model, Split("cl100k")), native.decoder_for(model.tokens)
    texts = [book_text()[at : at + 9_000] for at in range(0, 90_000, 9_000)]  # long ones: without the lock
    expected = [encoder.encode(text) for text in texts]

    def check(number: int) -> bool:
        order = texts[number:] + texts[:number]
        ids, offsets = encoder.encode_texts(order)
        lists = encoder.lists(ids, offsets)
        alone = [encoder.encode(text) for text in order]
        joined = [decoder.join(row).decode() for row in alone]
        return lists == alone == expected[number:] + expected[:number] and joined == order

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(check, [number % len(texts) for number in range(60)]))
    print("equal")


if __name__ == "__main__":
    main()
