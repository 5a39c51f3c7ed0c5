// What figures ask of the library, in a worker or in the page: to open a tokenizer, and to encode with it. A module of
// the library's kind: see library.py.

import { addedToken } from "./added_tokens.js";
import { Tokenizer } from "./bpelab.js";
import { Core } from "./core.js";
import { Patterns } from "./patterns.js";
import { TokenBytes } from "./token_bytes.js";
import { BYTES, BytePairEncoding } from "./tokenizer.js";
import { fromMerges } from "./vocabulary.js";

export class TokenizerService {
  // `module`: the compiled core; `resources`: what `Tokenizer.fromFile` takes.
  constructor(module, resources) {
    Object.assign(this, { module, resources, patterns: new Patterns(resources.patterns) });
    this.tokenizers = new Map();
  }

  // A tokenizer that a figure's data holds: tokens 0 to 255 are the bytes, and merge number n makes token 256 + n. In
  // `merges` are two ids for each, `pattern` is [expression, dialect].
  openTrained({ pattern, merges, specials }) {
    const made = Array.from({ length: 256 }, (_, byte) => [byte]), triples = [];
    for (let at = 0; at < merges.length; at += 2) {
      const [left, right] = merges.slice(at, at + 2);
      triples.push(left, right, made.push([...made[left], ...made[right]]) - 1);
    }
    const tokens = new TokenBytes(made.length, made.reduce((sum, bytes) => sum + bytes.length, 0));
    for (const bytes of made) {
      tokens.bytes.set(bytes, tokens.end);
      tokens.add(bytes.length);
    }
    const core = new Core(new WebAssembly.Instance(this.module, {}));
    return new Tokenizer(new BytePairEncoding(core, this.patterns, {
      ...BYTES,
      vocabulary: fromMerges(tokens, [...made.keys()], Int32Array.from(triples), {}),
      levels: [[this.patterns.find(...pattern), 0, ""]],
      added: specials.map(([name, id]) => addedToken(name, id, true)),
    }));
  }

  // Open a tokenizer under a name: `trained` is what a figure's data holds, or `file` is {bytes, name, options}.
  // Returns its special tokens.
  async open(key, { trained, file }) {
    const tokenizer = trained ? this.openTrained(trained)
      : await Tokenizer.fromFile(file.bytes, file.name, { ...file.options, resources: this.resources });
    this.tokenizers.set(key, tokenizer);
    return { specials: [...tokenizer.specialTokens] };
  }

  close(key) { this.tokenizers.delete(key); }

  // The first `most` ids of a text, how many there are, and the bytes of those. `careless`: whether special tokens in
  // the text become ids, as a program that doesn't know better does.
  encode(key, text, { most, careless = false }) {
    const tokenizer = this.tokenizers.get(key);
    const all = tokenizer.encode(text, careless ? { allowedSpecial: "all" } : {}), ids = [...all.subarray(0, most)];
    return { ids, count: all.length, bytes: this.bytes(key, ids) };
  }

  // The merges of a text, and the bytes of all tokens in them.
  trace(key, text) {
    const { symbols, steps } = this.tokenizers.get(key).trace(text);
    return { symbols, steps, bytes: this.bytes(key, [...symbols, ...steps.map((step) => step.id)]) };
  }

  // The pieces of a text, or null if more than one step splits it.
  pieces(key, text) {
    try {
      return this.tokenizers.get(key).pieces(text);
    } catch (problem) {
      if (problem.name !== "Refused") throw problem;
      return null;
    }
  }

  // id -> bytes.
  bytes(key, ids) {
    const tokenizer = this.tokenizers.get(key);
    return new Map([...new Set(ids)].map((id) => [id, [...tokenizer.bytesOf(id)]]));
  }
}
