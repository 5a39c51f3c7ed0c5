// A tokenizer: added tokens, normalizer, pre-tokenizer and BPE in a row, in the order of core/pipeline.py.

import { AddedTokens } from "./added_tokens.js";
import { fromAlphabet, toAlphabet } from "./byte_alphabet.js";
import { joinBytes, toText } from "./decoders.js";
import { Refused } from "./refused.js";

const utf8 = new TextEncoder();

// What a tokenizer of bytes has where its file has nothing but tokens, a pattern and special tokens.
export const BYTES = { normalize: null, prepare: null, byteLevel: true, readsAdded: false, decode: null };

const NONE_ALLOWED = [];
const SURROGATES = /[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g;

function wellFormed(text) { // a lone surrogate becomes U+FFFD
  if (typeof text !== "string") throw new TypeError(`text must be a string, not ${typeof text}`);
  if (text.toWellFormed) return text.toWellFormed();
  return text.replace(SURROGATES, (found) => (found.length > 1 ? found : "\ufffd"));
}

export class BytePairEncoding {
  // `parts`: what a reader of a format returns.
  // - vocabulary: the arrays of vocabulary.js
  // - levels: [[automaton, kept, required]]; prepare, positional: see pre_tokenizers.js
  // - normalize: text -> text, or null
  // - added: {content, id, special, normalized, lstrip, rstrip}
  // - decode: token strings -> texts, or null if decoding joins the tokens' bytes
  // - byteLevel: whether tokens are bytes; readsAdded: whether added tokens are decoded as if in the byte alphabet
  constructor(core, patterns, parts) {
    Object.assign(this, { core, parts });
    this.added = new AddedTokens(parts.added, parts.normalize);
    this.empty = new Set(parts.empty ?? []); // ids of tokens without bytes
    this.isPlain = this.added.allSpecial && !parts.normalize && !parts.prepare; // texts go to C as they are
    for (const [automaton, kept, required] of parts.levels) core.addPattern(patterns.table(automaton), kept, required);
    core.build(parts.vocabulary);
  }

  // The segments of a text as {text, id}, those between added tokens prepared for C.
  segments(text, allowedSpecial) {
    const { prepare } = this.parts, segments = this.added.split(wellFormed(text), allowedSpecial);
    if (!prepare) return segments;
    return segments.map(({ text: part, id }, n) => ({ text: id === null ? prepare(part, n === 0) : part, id }));
  }

  encode(text, { allowedSpecial = NONE_ALLOWED } = {}) {
    if (this.isPlain && allowedSpecial === NONE_ALLOWED) return this.core.encode(wellFormed(text));
    const parts = this.segments(text, allowedSpecial)
      .map(({ text: part, id }) => (id === null ? this.core.encode(part) : Uint32Array.of(id)));
    if (parts.length === 1) return parts[0];
    const ids = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) { ids.set(part, at); at += part.length; }
    return ids;
  }

  count(text, { allowedSpecial = NONE_ALLOWED } = {}) {
    return this.segments(text, allowedSpecial)
      .reduce((sum, { text: part, id }) => sum + (id === null ? this.core.count(part) : 1), 0);
  }

  tokens(text, options) {
    return Array.from(this.encode(text, options), (id) => ({ id, bytes: this.bytesOf(id) }));
  }

  // The pieces of a text, which merges never cross.
  pieces(text) {
    if (this.parts.levels.length > 1 || this.parts.levels.some(([, kept]) => kept)) {
      throw new Refused("Pieces are shown of tokenizers that split by one pattern and drop nothing.");
    }
    return this.segments(text, []).flatMap(({ text: part, id }) => {
      if (id !== null) return [part];
      const bytes = utf8.encode(part);
      let begin = 0;
      return Array.from(this.core.pieceEnds(part), (end) => toText(bytes.subarray(begin, begin = end)));
    });
  }

  // The merges of a text, as Core.trace returns them; an added token is a symbol.
  trace(text, { allowedSpecial = [] } = {}) {
    const all = { symbols: [], steps: [] };
    for (const { text: part, id } of this.segments(text, allowedSpecial)) {
      const { symbols, steps } = id === null ? this.core.trace(part) : { symbols: [id], steps: [] };
      const before = all.symbols.length;
      all.steps.push(...steps.map((step) => ({ ...step, begin: step.begin + before, stop: step.stop + before })));
      all.symbols.push(...symbols);
    }
    return all;
  }

  // The bytes of a token; of an added one those of its name. Throws a RangeError for an id without a token.
  bytesOf(id) {
    const name = this.added.names.get(id);
    if (name !== undefined) return (this.parts.readsAdded && fromAlphabet(name)) || utf8.encode(name);
    const bytes = this.empty.has(id) ? new Uint8Array(0) : this.core.decode([id]);
    if (!bytes) throw new RangeError(`there is no token with the id ${id}`);
    return bytes;
  }

  decode(ids) {
    const { decode, byteLevel } = this.parts;
    for (const id of ids) if (!Number.isInteger(id) || id < 0) throw new RangeError(`${id} is no id`);
    if (decode) {
      return decode(Array.from(ids, (id) => {
        const name = this.added.names.get(id);
        return name ?? (byteLevel ? toAlphabet(this.bytesOf(id)) : toText(this.bytesOf(id)));
      })).join("");
    }
    const own = (id) => this.added.names.has(id) || this.empty.has(id), parts = [];
    for (let at = 0, end; at < ids.length; at = end) {
      for (end = at; end < ids.length && !own(ids[end]); end++);
      const bytes = this.core.decode(ids.slice(at, end));
      if (!bytes) ids.slice(at, end).forEach((id) => this.bytesOf(id)); // which names the one without a token
      parts.push(bytes);
      if (end < ids.length) parts.push(this.bytesOf(ids[end++]));
    }
    return toText(joinBytes(parts));
  }
}
