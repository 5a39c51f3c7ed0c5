// The library's C as WebAssembly, `wasm.c`: arrays in, ids out. It knows nothing of files or of JavaScript's strings.
//
// A core has the tables of one vocabulary in a memory of its own, which goes when the core does. Cost: making it is
// more than half of what opening a file takes; a call copies its text in and its ids out.

import { Refused } from "./refused.js";

export const NONE = 0xffffffff; // no token
const NO_TOKEN = -1, LOOKAHEAD_EXCEEDED = -1;
const SHORT = 128; // texts of up to so many UTF-16 units are copied here, which is faster than a call that does it
const utf8 = new TextEncoder();

export class Core {
  // `exports`: those of an instance of its own.
  constructor({ exports }) {
    exports._initialize();
    this.c = exports;
    this.at = this.address(exports.core_new());
    this.room = this.address(exports.allocate(3 * SHORT));
    this.bytes = this.words = new Uint8Array(0);
  }

  // `module`: a compiled WebAssembly.Module.
  static async start(module) { return new Core(await WebAssembly.instantiate(module, {})); }

  // Arrays of all of C's memory; those from before it grew have no length.
  view() {
    if (this.bytes.length) return;
    this.bytes = new Uint8Array(this.c.memory.buffer);
    this.words = new Uint32Array(this.c.memory.buffer);
  }

  address(pointer) {
    if (!pointer) throw new Error("there is no memory left for this vocabulary or text");
    return pointer >>> 0;
  }

  // A typed array, copied into C's memory; its address.
  put(array) {
    const at = this.address(this.c.allocate(array.byteLength));
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    new Uint8Array(this.c.memory.buffer, at, array.byteLength).set(bytes);
    return at;
  }

  check(fault) {
    if (!fault) return;
    const bytes = new Uint8Array(this.c.memory.buffer, fault >>> 0);
    throw new Refused(new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0))));
  }

  // A pattern as `Patterns.table` returns it; `keep` 0 for all pieces, 1 for matches, 2 for gaps.
  addPattern(table, keep, required) {
    const needed = utf8.encode(required), transitions = this.put(table.transitions);
    const rules = table.rules ? this.put(Int32Array.from(table.rules)) : 0;
    const fault = this.c.add_pattern(this.at, keep, this.put(needed), needed.length, transitions,
      table.transitions.length, table.width, table.start, this.put(table.stage1), this.put(table.stage2),
      table.stage2.length, rules);
    this.c.release(transitions);
    this.c.release(rules);
    this.check(fault);
  }

  // The arrays of a vocabulary: see vocabulary.js.
  build(v) {
    const bytes = this.put(v.byteTokens), { symbols, merges } = v;
    this.c.set_tokens(this.at, this.put(v.content), this.put(v.offsets), this.put(v.ids), v.offsets.length - 1,
      v.ids.length, bytes, v.alphabetSize, v.ignoreMerges);
    this.c.release(bytes);
    if (symbols) {
      this.c.set_symbols(this.at, this.put(symbols.rows), this.put(symbols.tokens), symbols.tokens.length,
        symbols.characters, symbols.unk, symbols.fuseUnk, symbols.boundaryRule);
    }
    if (merges) {
      this.c.set_merges(this.at, this.put(merges.pairs), merges.pairs.length / 3, this.put(merges.made),
        merges.made.length, merges.onePairEach);
    }
    this.check(this.c.build(this.at));
  }

  // Write a text to the memory at `at`, as UTF-8; the number of bytes.
  write(text, at) {
    this.view();
    if (text.length <= SHORT) {
      let i = 0;
      for (let unit; i < text.length && (unit = text.charCodeAt(i)) < 0x80; i++) this.bytes[at + i] = unit;
      if (i === text.length) return i;
    }
    return utf8.encodeInto(text, this.bytes.subarray(at, at + 3 * text.length)).written;
  }

  // Call a function of C on the UTF-8 of a text; how many 32-bit integers it wrote.
  onText(call, text) {
    const at = text.length <= SHORT ? this.room : this.address(this.c.allocate(3 * text.length));
    try {
      return this.checked(call(this.at, at, this.write(text, at)));
    } finally {
      if (at !== this.room) this.c.release(at);
    }
  }

  // A copy of the 32-bit integers that the last call wrote.
  result(count, Kind) {
    const at = this.c.result(this.at) >>> 0;
    if (count > SHORT) return new Kind(this.c.memory.buffer, at, count).slice();
    const copy = new Kind(count);
    this.view();
    for (let i = 0; i < count; i++) copy[i] = this.words[at / 4 + i];
    return copy;
  }

  checked(count) {
    if (count === LOOKAHEAD_EXCEEDED) throw new Refused("the pattern reads too far ahead in this text to split it");
    if (count < 0) throw new Error("there is no memory left for this text");
    return count;
  }

  // The ids of a text (Uint32Array).
  encode(text) { return this.result(this.count(text), Uint32Array); }

  // How many they are, without copying them.
  count(text) { return this.onText(this.c.encode, text); }

  // Where each piece of a text ends, in bytes of UTF-8 (Int32Array), by the first pattern.
  pieceEnds(text) { return this.result(this.onText(this.c.piece_ends, text), Int32Array); }

  // The merges of a text: the ids of its initial symbols, and steps, each of which makes a token of the symbols from
  // `begin` up to `stop`; the rank is NONE if no merge makes it.
  trace(text) {
    if (!text) return { symbols: [], steps: [] };
    const numbers = this.result(this.onText(this.c.trace, text), Uint32Array), first = 2 + numbers[0], steps = [];
    for (let at = first; at < numbers.length; at += 4) {
      const [rank, begin, stop, id] = numbers.subarray(at, at + 4);
      steps.push({ rank, begin, stop, id });
    }
    return { symbols: [...numbers.subarray(2, first)], steps };
  }

  // The bytes of ids, or null if one of them has no token.
  decode(ids) {
    const at = this.put(Uint32Array.from(ids)), size = this.c.decode(this.at, at, ids.length);
    this.c.release(at);
    if (size === NO_TOKEN) return null;
    if (size < 0) throw new Error("there is no memory left for these ids");
    return size ? new Uint8Array(this.c.memory.buffer, this.c.result(this.at) >>> 0, size).slice() : new Uint8Array(0);
  }
}
