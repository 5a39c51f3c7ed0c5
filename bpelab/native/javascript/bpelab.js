// bpelab in JavaScript: byte-pair encoding with the ids of the library in Python, from a tokenizer's own file, in
// browsers, workers and node. The algorithms are the library's C, compiled to WebAssembly; nothing is sent anywhere.
//
//     import { Tokenizer } from "bpelab";
//     const tokenizer = await Tokenizer.fromFile(bytes, "tokenizer.json");
//     tokenizer.decode(tokenizer.encode("Hello")) === "Hello";

import { Core } from "./core.js";
import { readGguf } from "./gguf.js";
import { readNormalizer } from "./normalizers.js";
import { Patterns } from "./patterns.js";
import { readRankFile, readTekken } from "./rank_files.js";
import { Refused } from "./refused.js";
import { readResources } from "./resources.js";
import { BytePairEncoding } from "./tokenizer.js";
import { readTokenizerJson } from "./tokenizer_json.js";

export { Refused };

export class Tokenizer {
  #encoding;

  constructor(encoding) { this.#encoding = encoding; }

  /**
   * Open a tokenizer's file: a tokenizer.json, a `.tiktoken`, a tekken.json, or a GGUF, of which the header is enough.
   *
   * @param {Uint8Array} bytes the contents of the file
   * @param {string} name its name, for messages
   * @param {object} options `pattern`: how a `.tiktoken` file's text is split: a name such as "cl100k", or the
   *   expression of a published pattern; a published file needs none. `specialTokens`: its special tokens, name -> id.
   *   `resources`: `{core, patterns}`, the bytes of bpelab.wasm and the contents of patterns.json, for pages that can't
   *   fetch them.
   * @returns {Promise<Tokenizer>}
   * @throws {Refused} if ids could differ from those of the library in Python, or the file is damaged: the message
   *   says why
   *
   * Cost: linear in the file; README.md says how long the published ones take. 53 MB for 100,000 tokens.
   */
  static async fromFile(bytes, name = "the file", options = {}) {
    const { module, patterns } = await load(options.resources);
    try {
      const parts = await readFile(bytes, patterns, options);
      return new Tokenizer(new BytePairEncoding(await Core.start(module), patterns, parts));
    } catch (error) {
      if (error instanceof Refused) throw new Refused(`${name}: ${error.message}`);
      if (!(error instanceof TypeError)) throw error;
      throw new Refused(`${name}: a part is missing or of another kind: ${error.message}.`);
    }
  }

  /**
   * The ids of a text. Special tokens in it are text, unless `allowedSpecial` names them ("all", or a list of names);
   * added tokens that aren't special always match. None are put around the text. Lone surrogates become U+FFFD.
   *
   * @returns {Uint32Array}
   */
  encode(text, options) { return this.#encoding.encode(text, options); }

  /** How many ids `encode` returns. */
  count(text, options) { return this.#encoding.count(text, options); }

  /** The same tokens with their bytes: `[{id, bytes}]`. */
  tokens(text, options) { return this.#encoding.tokens(text, options); }

  /** The pieces of a text, which merges never cross; refused if more than one step splits it. */
  pieces(text) { return this.#encoding.pieces(text); }

  /**
   * The merges of a text, one after the other: `{symbols, steps}`. `symbols` are the ids that each piece begins with, such
   * as those of its bytes; a step `{rank, begin, stop, id}` makes a token of the symbols from `begin` up to `stop`. Its
   * rank is 2**32 - 1 if no merge does, and the piece is taken whole. Quadratic in the longest piece.
   */
  trace(text, options) { return this.#encoding.trace(text, options); }

  /** The bytes of a token. Throws a RangeError for an id without one. */
  bytesOf(id) { return this.#encoding.bytesOf(id); }

  /** The text of ids. Bytes that aren't UTF-8 become U+FFFD. Throws a RangeError for an id without a token. */
  decode(ids) { return this.#encoding.decode(ids); }

  /** The special tokens, name -> id. */
  get specialTokens() { return new Map(this.#encoding.added.special); }
}

let loaded = null;

async function load(resources) {
  loaded ??= (async () => {
    const { core, patterns } = resources ?? await readResources();
    return { module: await WebAssembly.compile(core), patterns: new Patterns(patterns) };
  })();
  try {
    return await loaded;
  } catch (error) {
    loaded = null; // another try may succeed
    throw error;
  }
}

async function readFile(given, patterns, { pattern = null, specialTokens }) {
  const bytes = new Uint8Array(given.buffer, given.byteOffset, given.byteLength); // node's Buffer searches slowly
  const start = new TextDecoder().decode(bytes.subarray(0, 100));
  if (start.startsWith("GGUF")) return readGguf(bytes, patterns);
  if (/^\s*\{/.test(start)) {
    const data = parse(bytes);
    if (data.config && data.vocab) return readTekken(data, patterns);
    if (data.model) return readTokenizerJson(data, patterns);
    throw new Refused("This JSON is neither a tokenizer.json nor a tekken.json.");
  }
  if (!/^[A-Za-z0-9+/]+={0,2} \d+\r?\n/.test(start)) {
    throw new Refused("This is no tokenizer.json, .tiktoken, tekken.json or GGUF.");
  }
  if (pattern !== null) return readRankFile(bytes, patterns, pattern, null, specialTokens);
  const [, published, form] = patterns.data.ranks[await sha256(bytes)] ?? [];
  if (!published) throw new Refused('It holds no pattern: name the one to split with, as in {pattern: "cl100k"}.');
  const normalize = readNormalizer(form && { type: form }, patterns.data.afterUnicode9);
  return readRankFile(bytes, patterns, published, normalize, specialTokens);
}

function parse(bytes) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Refused(`This is not JSON: ${error.message}`);
  }
}

async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) return ""; // a page that was not fetched securely
  const plain = bytes.includes(13) ? bytes.filter((byte, n) => byte !== 13 || bytes[n + 1] !== 10) : bytes;
  const digest = await crypto.subtle.digest("SHA-256", plain);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
