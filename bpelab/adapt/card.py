"""The card of an adapted model, ADAPTED.md: how many rows were copied and how many initialized.

Chapter: New words for an old model.
"""

from typing import TYPE_CHECKING

from .. import __version__

if TYPE_CHECKING:
    from .plan import AdaptationPlan

ABOUT = {
    "mean": "the mean of the rows of the token's parts: the tokens that the old tokenizer writes for its bytes",
    "average": "the average of all rows that have a token",
    "normal": "drawn from a normal distribution close to the average of all rows that have a token",
}
LONGEST_CARD = 100_000


def card(plan: "AdaptationPlan", seed: int, earlier: str) -> str:
    """Return the card, in Markdown; `earlier` is the original model's card, if it had one."""
    facts = plan.facts
    rows = "\n".join(
        f"| {name} | {facts[f'{key}_before']:,} | {facts[f'{key}_after']:,} |"
        for name, key in (("tokens", "tokens"), ("rows", "rows"), ("parameters", "parameters"), ("bytes", "bytes"))
    )
    matrices = "\n".join(f"- `{tensor.name}`, {tensor.type}" for tensor in plan.matrices.tensors)
    left_out = "\n".join(f"- `{name}`: {why}" for name, why in plan.left_out.items()) or "Nothing."
    alone = facts["rows_without_parts"]
    without = f" {alone:,} tokens have no parts, and get the average." if alone else ""
    chance = f", with the seed {seed}" if plan.rule == "normal" else ""
    text = f"""\
# Adapted to another tokenizer

bpelab {__version__} wrote this folder from a model of the kind `{plan.files.architecture}`. Only rows of the matrices
below differ from that model; it was not trained again.

| | before | after |
| --- | ---: | ---: |
{rows}

Of the {facts["rows_after"]:,} rows, {facts["rows_copied"]:,} are copied bit by bit, {facts["rows_made"]:,} are made for
new tokens, and {facts["rows_of_padding_made"]:,} are padding, which has the average of all rows that have a token.
{facts["tokens_removed"]:,} tokens were removed, and {facts["tokens_with_new_ids"]:,} have other ids than before.

The row of a new token is {ABOUT[plan.rule]} (rule `{plan.rule}`{chance}).{without}

## Matrices

{matrices}

## Left out

{left_out}

The hash of each file is in `SHA256SUMS`; `sha256sum -c SHA256SUMS` checks them.
"""
    return text + (f"\n---\n\n{earlier[:LONGEST_CARD]}" if earlier else "")
