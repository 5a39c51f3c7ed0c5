"""The record of what masks cost, which *One byte at a time* shows, fits together."""

import json

from ..conftest import ROOT

RECORD = json.loads((ROOT / "book" / "constraints_record.json").read_text("utf-8"))
ENGINES = {"canonical", "usual", "llguidance", "xgrammar"}


def test_all_went_the_same_way():
    """But for the canonical mask, whose texts are other ones."""
    assert RECORD["once_ms"].keys() == ENGINES
    assert RECORD["speeds"].keys() == RECORD["compared"].keys()
    for name, rows in RECORD["speeds"].items():
        assert rows.keys() == ENGINES
        for row in rows.values():
            assert 0 < row["median"] <= row["p99"] <= row["slowest"]
        compared = RECORD["compared"][name]
        masks = {rows[name]["masks"] for name in ENGINES - {"canonical"}}
        assert masks == {found["masks"] for found in compared.values()}


def test_what_differs_has_reasons():
    for compared in RECORD["compared"].values():
        for peer, found in compared.items():
            differ = bool(found["only_bpelab"] or found["only_peer"])
            assert differ == (found["same"] < found["masks"])
            assert RECORD["why"][peer] and RECORD["versions"][peer]
