"""Constraints of the schemas in JSON Schema's own test suite, which lies in the sources of jsonschema: what is sampled
is valid, and encodes to the ids that were sampled."""

import json
import random
from collections import Counter

import jsonschema
import pytest

from bpelab import BPETokenizer, PatternError
from bpelab.constraints import Constraint

from ..constraints.sampled import sampled
from .catalogue import RealFile
from .download import real_file

PACKAGE, VERSION = "jsonschema", "4.26.0"
HASHES = {
    "additionalProperties": "b96bd533416386ac6421737b48c5c072870ab5dbea910585e9e8fa6305c7ca91",
    "allOf": "81045b06706a28f6aa337b485b41a764098e10ac73bb1d346ba0a4285a63e970",
    "anyOf": "7a6fe41602496c256334ffa3e6fb457b26ac23b97ca03cb16b724ad21a7d216d",
    "const": "16261074804eed0db7bfd0a5aca3961a1dbed086aa3f58fd1f82e60415261adf",
    "enum": "4a455b62406bc7464210c275e990005edc763bed2725f886db68dd21d92b864d",
    "exclusiveMaximum": "e37fc110c48e2a9de564579ceba3e8ab098a36f904dcc1ef02f8cf7b59dc0473",
    "exclusiveMinimum": "0395a2423606d07943d3d355d1c9c4a474cc7cb544d3c8f266ceab801c5f0a6d",
    "items": "d924a8171f1f1d04ff026a4e3491d1376297145563158543005b7073b69ab913",
    "maxItems": "59fa6236c0766aaac5fb7c9ef82e205c230efa94271485f614218291be7cbc5c",
    "maxLength": "ac43a3991586f2d2d1e7e37cad01bb1a7b1c5d9ad7b558d6029d24b41a04d1a9",
    "maximum": "7f73957505e37fbfb770e056c14b139700879bc1ec3e6eae74a727f828b1cda3",
    "minItems": "9792cedc446be654836b42d0312eca12051e9e2f24cd5d95dcd3f3fc9adccd0a",
    "minLength": "999e9731c57a1296e06e8b9b36b0531614ab7a6ac3c20db6fed50badbf3850ab",
    "minimum": "f6a29cb574b76621da23636a636cf12cb31b01646b89543e6ce1a813376439a3",
    "oneOf": "a8d80a786d07769cb9b8b9a8903ca4f7aa564446ae6b781c7f7f6ffea11ed363",
    "pattern": "d4b51051e057ba866a6153e12246726877dedbd83e709fc2238f1e8ed276c678",
    "prefixItems": "5b2006fb0d99f9df8e25e384d665edc57427e7849ac0f963f541626fd82bb522",
    "properties": "58f01566cfe3e1fc4fb851d3b2eab13768d65ba5dbc4e9f9387ceaf4244a0522",
    "ref": "158a559cda5c8a45ca8a810db4e9bc9bcf484c0fc83015828d5afce35409d0dc",
    "required": "558a092523599ab66b528bd802d9148d7117ff3101fd795081686777662e29fa",
    "type": "4c5cbe6cbcd28af73761091367b20e07d0403847e236c06c31fc27061bd81192",
}
SERVED = 90
"""At least so many of the schemas have a constraint."""
T = BPETokenizer.train("low lower lowest foo bar null true false " * 9, 281)


def schemas():
    """(The name of a case, its schema) for each in these files of the suite."""
    for name, sha256 in HASHES.items():
        path = f"{PACKAGE}-{VERSION}/json/tests/draft2020-12/{name}.json"
        file = real_file(RealFile(f"{name}.json", "sdist", PACKAGE, VERSION, path, sha256))
        yield from ((f"{name}: {case['description']}", case["schema"]) for case in json.loads(file.read_bytes()))


@pytest.mark.parametrize("canonical", [True, False])
def test_the_suite(canonical):
    counted = Counter()
    for name, schema in schemas():
        try:
            constraint = Constraint.json_schema(T, schema, canonical=canonical, max_depth=2)
        except PatternError as error:
            assert str(error).startswith("#") or str(error) == "no text matches this constraint", name
            counted["refused"] += 1
            continue
        counted["served"] += 1
        validator = jsonschema.Draft202012Validator(schema)
        for seed in range(4):
            ids = sampled(constraint, random.Random(seed), after=25)
            text = T.decode(ids)
            validator.validate(json.loads(text))
            assert not canonical or T.encode(text) == ids, (name, text)
    assert counted["served"] >= SERVED, counted
