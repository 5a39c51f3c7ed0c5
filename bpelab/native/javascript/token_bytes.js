// The bytes of many tokens, end to end in one array: an array of 100,000 small arrays takes far more time and memory.

const utf8 = new TextEncoder();

export class TokenBytes {
  // `count` tokens with room for `size` bytes; `add` them in their order.
  constructor(count, size) {
    this.bytes = new Uint8Array(size);
    this.offsets = new Int32Array(count + 1);
    this.count = 0;
  }

  // Texts, as the bytes that `spell` writes to an array from an offset on; it returns their number: three for a UTF-16
  // unit at most.
  static of(texts, spell = (text, to, at) => utf8.encodeInto(text, to.subarray(at)).written) {
    const made = new TokenBytes(texts.length, 3 * texts.reduce((sum, text) => sum + text.length, 0));
    for (const text of texts) made.add(spell(text, made.bytes, made.end));
    return made;
  }

  // Where the next token's bytes begin. They are written there, and then their number is added.
  get end() { return this.offsets[this.count]; }
  add(size) {
    this.offsets[this.count + 1] = this.offsets[this.count] + size;
    this.count++;
  }

  size(n) { return this.offsets[n + 1] - this.offsets[n]; }
  at(n) { return this.bytes.subarray(this.offsets[n], this.offsets[n + 1]); }
  first(n) { return this.bytes[this.offsets[n]]; }

  // Some of the tokens, in the order of their `numbers`.
  take(numbers) {
    const { bytes, offsets } = this;
    if (numbers.length === this.count && numbers.every((number, n) => number === n)) return this;
    const made = new TokenBytes(numbers.length, this.end);
    for (let n = 0; n < numbers.length; n++) {
      const begin = offsets[numbers[n]], size = offsets[numbers[n] + 1] - begin, to = made.end;
      for (let i = 0; i < size; i++) made.bytes[to + i] = bytes[begin + i];
      made.add(size);
    }
    return made;
  }

  // The number of the token that each of the 256 bytes is, or -1.
  get byteTokens() {
    const found = new Int32Array(256).fill(-1);
    for (let n = 0; n < this.count; n++) if (this.size(n) === 1) found[this.first(n)] = n;
    return found;
  }

  // Whether two tokens have the same bytes.
  get repeats() {
    const { bytes, offsets, count } = this;
    const mask = 2 ** Math.ceil(Math.log2(2 * count + 2)) - 1, slots = new Int32Array(mask + 1).fill(-1);
    for (let n = 0; n < count; n++) {
      let hash = 0;
      for (let i = offsets[n]; i < offsets[n + 1]; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193) + 1;
      let slot = (hash ^ hash >>> 15) & mask;
      for (; slots[slot] >= 0; slot = (slot + 1) & mask) if (this.equal(n, slots[slot])) return true;
      slots[slot] = n;
    }
    return false;
  }

  equal(n, other) {
    const size = this.size(n), [begin, start] = [this.offsets[n], this.offsets[other]];
    if (this.size(other) !== size) return false;
    for (let i = 0; i < size; i++) if (this.bytes[begin + i] !== this.bytes[start + i]) return false;
    return true;
  }
}
