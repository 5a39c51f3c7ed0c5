"""Make the tiny chat model: text, tokenizer, training, files, scores, card.

python -m tools.make_tiny_chat [--folder FOLDER] [--epochs NUMBER]
"""

import argparse
import os
import sys
from pathlib import Path

from bpelab.data import FOLDER

from .card import write_card
from .corpus import leaks, make_corpus
from .export import export
from .network import network
from .score import score, write_scores
from .tokens import make_tokenizer
from .train import EPOCHS, SEED, THREADS, rows, train


def main() -> None:
    """Make everything. Takes less than 40 minutes on two cores."""
    parser = argparse.ArgumentParser(prog="python -m tools.make_tiny_chat", description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER / "tiny_chat")
    parser.add_argument("--epochs", type=float, default=EPOCHS)
    parser.add_argument("--conversations", type=int, help="train on the first so many only, to try the script")
    parser.add_argument("--questions", type=int, help="score the first so many only")
    options = parser.parse_args()
    for name, value in (("OMP_WAIT_POLICY", "passive"), ("GOMP_SPINCOUNT", "0")):  # waiting threads leave the cores
        os.environ.setdefault(name, value)
    corpus = make_corpus()
    if found := leaks(corpus):
        sys.exit(f"{len(found)} held-out questions are in the training text, the first: {found[0]}")
    tokenizer = make_tokenizer(message["content"] for talk in corpus.train for message in talk)
    data = rows(tokenizer, corpus.train[: options.conversations])
    model = network(tokenizer, SEED)
    took = train(model, data, options.epochs, THREADS)
    export(model, tokenizer, options.folder)
    scores = score(options.folder, corpus.scored()[: options.questions])
    write_scores(options.folder, scores)
    write_card(options.folder, corpus, data, took, scores)


if __name__ == "__main__":
    main()
