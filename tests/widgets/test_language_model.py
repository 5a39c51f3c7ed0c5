"""The model in the page, in node and in Chromium, against the reference backend: ids, logits and draws."""

import base64
import json
import random
import shutil
import subprocess
from functools import lru_cache
from math import isfinite
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bpelab._support.install import install_command
from bpelab.chat.backends import close_backends, open_backend
from bpelab.chat.generation import generate
from bpelab.chat.models.find import ModelFiles, find_model
from bpelab.chat.sampling import Sampling
from bpelab.data import FOLDER

from ..chat.tiny import write_tiny_llama
from ..conftest import amount

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets.base import MODEL, resource
from bpelab.widgets.sphinx import WEIGHTS, write_assets

TINY = FOLDER / "tiny_chat"
RUN = """
const { readFileSync, writeFileSync } = require("node:fs");
const { folder, prompts, stop, most, out } = JSON.parse(readFileSync(0, "utf8"));
const config = JSON.parse(readFileSync(`${folder}/config.json`, "utf8"));
const model = makeLanguageModel(config, readSafetensors(readFileSync(`${folder}/model.safetensors`)));
const answers = [], logits = [];
for (const prompt of prompts) {
  model.keep(0);
  let last = null;
  const answer = [];
  for (const id of prompt) last = model.feed(id);
  while (answer.length < most) {
    logits.push(last);
    const id = greedy(last);
    if (stop.includes(id)) break;
    answer.push(id);
    last = model.feed(id);
  }
  answers.push(answer);
}
writeFileSync(out, Buffer.concat(logits.map((row) => Buffer.from(row.buffer, row.byteOffset, row.byteLength))));
console.log(JSON.stringify(answers));
"""


@lru_cache(None)
def code() -> str:
    return "\n".join(resource(f"js/{part}") for part in MODEL)


def node(script: str, given: object) -> str:
    """Run a script after the model's own code; a skip that says why where there is no node."""
    if shutil.which("node") is None:
        pytest.skip("there is no node here to run JavaScript with")
    command = ["node", "-e", f'"use strict";\n{code()}\n{script}']
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def reference(files: ModelFiles, prompts: list[list[int]], most: int) -> tuple[list[list[int]], np.ndarray]:
    """The greedy answers of the reference backend, and the logits that each token was chosen by, stop tokens too."""
    model, stop, logits = open_backend("reference", files), frozenset(files.stop_ids), []
    ask = model.next_logits

    def listen(*given):
        logits.append(ask(*given))
        return logits[-1]

    model.next_logits = listen
    answers = [[made.id for made in generate(model, row, max_new_tokens=most, stop=stop)] for row in prompts]
    close_backends()
    return answers, np.array(logits)


def compare(folder: Path, prompts: list[list[int]], most: int, tmp_path: Path) -> list[list[int]]:
    files, out = find_model(folder), tmp_path / "logits"
    given = {"folder": str(folder), "prompts": prompts, "stop": [*files.stop_ids], "most": most, "out": str(out)}
    found = json.loads(node(RUN, given))
    answers, logits = reference(files, prompts, most)
    assert found == answers
    theirs = np.fromfile(out, np.float32).reshape(logits.shape)
    assert np.abs(theirs - logits).max() < 1e-4
    return answers


def shipped_prompts(count: int) -> list[list[int]]:
    """So many of the questions that the shipped model was scored with, evenly spread, as it is asked them."""
    scored = json.loads((TINY / "scores.json").read_text("utf-8"))["answers"]
    tokenizer, prompts = find_model().tokenizer(), []
    for place in range(count):
        said = scored[place * len(scored) // count]["said"]
        roles = ["system"] * (len(said) % 2 == 0) + ["user", "assistant"] * len(said)
        messages = [{"role": role, "content": text} for role, text in zip(roles, said)]
        prompts.append(tokenizer.apply_chat_template(messages, add_generation_prompt=True))
    return prompts


@pytest.mark.parametrize("count", [8, pytest.param(200, marks=pytest.mark.slow)])
def test_the_shipped_model_gives_the_reference_ids_and_logits(count, tmp_path):
    answers = compare(TINY, shipped_prompts(count), 96, tmp_path)
    assert sum(map(len, answers)) > 10 * count


SHAPES = {
    "shared keys": {"heads": 4, "kv_heads": 2},
    "one key for all": {"heads": 4, "kv_heads": 1, "layers": 3},
    "an output of its own": {"tied": False, "vocab": 330},
    "wide heads": {"head_dim": 48, "intermediate": 80},
    "other angles, float32": {"rope_theta": 500.0, "dtype": "float32"},
}


@pytest.mark.parametrize("options", SHAPES.values(), ids=SHAPES)
def test_random_models_give_the_reference_ids_and_logits(options, tmp_path):
    pytest.importorskip("safetensors", reason="it writes the random model")
    folder, rng = write_tiny_llama(tmp_path / "model", gguf=False, **options), random.Random(3)
    compare(folder, [rng.choices(range(300), k=size) for size in (1, 2, 40)], 30, tmp_path)


def test_draws_are_those_of_the_library():
    """The same logits, temperature and number give the same token."""
    rng, cases, expected = np.random.default_rng(1), [], []
    for _ in range(amount(400, 20_000)):
        logits = (rng.standard_normal(rng.integers(1, 40)) * rng.choice([0.1, 1, 5])).astype(np.float32)
        logits[rng.random(len(logits)) < 0.2] = logits[0]  # ties
        logits[rng.random(len(logits)) < 0.1] = -np.inf  # what a constraint doesn't allow
        logits[0] = 0.0
        own, number = Sampling(temperature=float(rng.choice([0, 0.3, 1, 2]))), float(rng.random())
        drawn = own._draw(logits.astype(float), number) if own.temperature else int(logits.argmax())
        cases.append([[float(logit) if isfinite(logit) else None for logit in logits], own.temperature, number])
        expected.append(drawn)
    script = """
    const cases = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    const read = (logits) => Float32Array.from(logits, (logit) => logit ?? -Infinity);
    const drawn = cases.map(([logits, temperature, number]) => sample(read(logits), temperature, number));
    console.log(JSON.stringify(drawn));
    """
    assert json.loads(node(script, cases)) == expected


def test_numbers_of_all_kinds_are_read(tmp_path):
    """Every float16 and bfloat16 there is, and float32s."""
    save_file = pytest.importorskip("safetensors.numpy").save_file
    words = np.arange(1 << 16, dtype=np.uint16)
    singles = np.random.default_rng(2).standard_normal(999).astype(np.float32)
    save_file({"h": words.view(np.float16).reshape(256, 256), "s": singles}, tmp_path / "file")
    raw = (tmp_path / "file").read_bytes()
    brain = json.dumps({"b": {"dtype": "BF16", "shape": [1 << 16], "data_offsets": [0, 1 << 17]}}).encode()
    files = [raw, len(brain).to_bytes(8, "little") + brain + words.tobytes()]
    script = """
    const files = JSON.parse(require("node:fs").readFileSync(0, "utf8")).map((text) => Buffer.from(text, "base64"));
    const words = ({ numbers }) => Buffer.from(numbers.buffer).toString("base64");
    const all = Object.assign({}, ...files.map((bytes) => Object.fromEntries(readSafetensors(bytes))));
    console.log(JSON.stringify([all.h.shape, ...["h", "s", "b"].map((name) => words(all[name]))]));
    """
    shape, *numbers = json.loads(node(script, [base64.b64encode(data).decode() for data in files]))
    halves, theirs, brains = (np.frombuffer(base64.b64decode(text), np.float32) for text in numbers)
    assert shape == [256, 256]
    np.testing.assert_array_equal(halves, words.view(np.float16).astype(np.float32))
    np.testing.assert_array_equal(theirs, singles)
    np.testing.assert_array_equal(brains, (words.astype(np.uint32) << 16).view(np.float32))


def test_what_can_not_be_run_is_refused_by_name():
    weights = TINY / "model.safetensors"
    config = json.loads((TINY / "config.json").read_text("utf-8"))
    script = """
    const { readFileSync } = require("node:fs");
    const { weights, config } = JSON.parse(readFileSync(0, "utf8"));
    const bytes = readFileSync(weights), tensors = readSafetensors(bytes), said = [];
    const attempt = (what) => { try { what(); said.push("nothing"); } catch (error) { said.push(error.message); } };
    const typed = Buffer.from(bytes);
    typed.write("I16", typed.indexOf("F16"));
    attempt(() => readSafetensors(bytes.subarray(0, 5)));
    attempt(() => readSafetensors(bytes.subarray(0, 99)));
    attempt(() => readSafetensors(bytes.subarray(0, 99999)));
    attempt(() => readSafetensors(typed));
    attempt(() => makeLanguageModel({ ...config, attention_bias: true }, tensors));
    attempt(() => makeLanguageModel({ ...config, model_type: "qwen2" }, tensors));
    attempt(() => makeLanguageModel({ ...config, hidden_size: 64 }, tensors));
    attempt(() => makeLanguageModel({ ...config, tie_word_embeddings: false }, tensors));
    const model = makeLanguageModel({ ...config, max_position_embeddings: 2 }, tensors);
    attempt(() => model.feed(1024));
    attempt(() => { for (const id of [1, 2, 3]) model.feed(id); });
    console.log(JSON.stringify(said));
    """
    assert json.loads(node(script, {"weights": str(weights), "config": config})) == [
        *["The weights are not a safetensors file, or a part of one."] * 2,
        "The tensor model.embed_tokens.weight should have 131072 numbers, and the file holds others.",
        "The tensor model.embed_tokens.weight is I16, and only F32, F16, BF16 are read.",
        "This page runs plain Llamas, and this model's attention_bias makes it another one.",
        "This page runs plain Llamas, and this model's architecture makes it another one.",
        "The weights model.embed_tokens are 1024,128, not 1024,64.",
        "The weights lm_head are missing.",
        "The model has 1024 tokens, and none is 1024.",
        "The model reads 2 tokens, and no more.",
    ]


@pytest.mark.slow
def test_in_a_browser_on_a_page_from_a_disk(browser, tmp_path):
    """The weights come from the script that the build writes, and no request leaves the disk."""
    write_assets(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path))
    (tmp_path / "page.html").write_text(
        f'<!doctype html><title>a model</title><script src="_static/{WEIGHTS}"></script>'
    )
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "page.html").as_uri(), wait_until="load")
    files, prompts = find_model(), shipped_prompts(6)
    config = json.loads((TINY / "config.json").read_text("utf-8"))
    found = page.evaluate(
        f"""([config, prompts, stop]) => {{
            {code()}
            const bytes = Uint8Array.from(atob(bpelabWeights), (char) => char.charCodeAt(0));
            const model = makeLanguageModel(config, readSafetensors(bytes));
            return prompts.map((prompt) => {{
                model.keep(0);
                const answer = [], logits = [];
                let last = null;
                for (const id of prompt) last = model.feed(id);
                for (;;) {{
                    logits.push([...last]);
                    const id = greedy(last);
                    if (stop.includes(id) || answer.length === 40) return [answer, logits];
                    answer.push(id);
                    last = model.feed(id);
                }}
            }});
        }}""",
        [config, prompts, [*files.stop_ids]],
    )
    page.close()
    answers, logits = reference(files, prompts, 41)
    assert [answer for answer, _ in found] == [answer[:40] for answer in answers]
    theirs = np.array([row for _, rows in found for row in rows])
    assert np.abs(theirs - logits).max() < 1e-4
    assert all(url.startswith("file:") for url in asked)
