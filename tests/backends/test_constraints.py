"""Constraints on real engines: on every backend, and as a logits processor of transformers and llama-cpp-python."""

import json

import pytest
import regex

from bpelab.chat import ChatSession
from bpelab.chat.backends import BACKENDS
from bpelab.chat.models.find import find_model
from bpelab.constraints import Constraint

from ..chat.tiny import write_tiny_llama
from .conftest import need
from .engines import open_engine

PATTERN = r"[A-Z][a-z]{2,8}( [a-z]{1,6}){1,4}\."
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "é"]}}, "required": ["a", "b"]}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return find_model(write_tiny_llama(tmp_path_factory.mktemp("llama")))


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend(name, files):
    with open_engine(name, files, context=256) as backend:
        session = ChatSession(files, backend=backend, temperature=1.5, seed=4)
        answer = session.ask("Hello", constraint=Constraint.regex(session.tokenizer, PATTERN))
        assert answer.reason == "stop" and regex.fullmatch(PATTERN, answer.text)
        assert list(answer.ids) == session.tokenizer.encode(answer.text)
        answer = session.complete("Hello", constraint=Constraint.json_schema(session.tokenizer, SCHEMA))
        value = json.loads(answer.text)
        assert list(value) == ["a", "b"] and isinstance(value["a"], int) and value["b"] in ("x", "é")


@pytest.mark.parametrize("options", [{"do_sample": True}, {"num_beams": 3, "do_sample": False}])
def test_transformers(files, options):
    """Two rows at once; beams change places."""
    torch, transformers = need("torch"), need("transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(files.folder)
    tokenizer = files.tokenizer()
    stop, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    prompts = torch.tensor([tokenizer.encode("the harbour")[:3], tokenizer.encode("of the sea")[:3]])
    constraint = Constraint.regex(tokenizer, PATTERN)
    torch.manual_seed(2)
    made = model.generate(
        prompts,
        attention_mask=torch.ones_like(prompts),
        max_new_tokens=120,
        eos_token_id=stop,
        pad_token_id=pad,
        logits_processor=transformers.LogitsProcessorList([constraint.logits_processor([stop])]),
        **options,
    )
    for row in made[:, 3:].tolist():
        ids = row[: row.index(stop)]
        text = tokenizer.decode(ids)
        assert regex.fullmatch(PATTERN, text) and tokenizer.encode(text) == ids


def test_llama_cpp_python(files):
    llama_cpp = need("llama_cpp")
    tokenizer = files.tokenizer()
    stop = tokenizer.eos_token_id
    model = llama_cpp.Llama(str(next(files.folder.glob("*.gguf"))), n_ctx=256, n_gpu_layers=0, verbose=False)
    processors = llama_cpp.LogitsProcessorList([Constraint.regex(tokenizer, PATTERN).logits_processor([stop])])
    ids = []
    for token in model.generate(tokenizer.encode("the harbour"), temp=1.0, logits_processor=processors):
        if token == stop:
            break
        ids.append(token)
    text = tokenizer.decode(ids)
    assert regex.fullmatch(PATTERN, text) and tokenizer.encode(text) == ids
