// A model as the arrays from which C builds its tables, as native/arrays.py defines them: tokens in the order of their
// ranks, the alphabet first; merges; initial symbols, if they aren't the 256 bytes.
//
// Until then tokens have the numbers 0, 1, 2 ... in the order of their file. Cost: linear, 0.1 s for 100,000 tokens.

import { NONE } from "./core.js";
import { Refused } from "./refused.js";

const BLOCKS = 1 << 13, MAX_TOKENS = 1 << 21, NO_BOUNDARIES = 0, AT_UNSEEN_PAIRS = 1;
const NOT_IN_UTF8 = (byte) => byte === 0xc0 || byte === 0xc1 || byte >= 0xf5;

// Tokens in a new order, that of `add`; `index[n]` is the place of token n there, or -1.
class Order {
  constructor(count) {
    if (count > MAX_TOKENS) throw new Refused(`There are ${count} tokens; up to ${MAX_TOKENS} are served.`);
    this.index = new Int32Array(count).fill(-1);
    this.all = new Int32Array(count);
    this.size = 0;
  }
  add(n) {
    if (this.index[n] >= 0) return;
    this.index[n] = this.size;
    this.all[this.size++] = n;
  }
  get numbers() { return this.all.subarray(0, this.size); }
}

function arraysOf(tokens) {
  return { content: tokens.bytes.subarray(0, tokens.end), offsets: tokens.offsets.subarray(0, tokens.count + 1) };
}

// tiktoken's rule: of all pairs of adjacent tokens whose bytes are a token, the one of the lowest rank merges first.
// `tokens` (TokenBytes) and `ids` are in the order of their ranks.
export function fromRanks(tokens, ids) {
  const bytes = tokens.byteTokens, missing = bytes.indexOf(-1), order = new Order(tokens.count);
  if (missing >= 0) throw new Refused(`The byte ${missing} is no token.`);
  for (const n of bytes.slice().sort((a, b) => a - b)) order.add(n);
  for (let n = 0; n < tokens.count; n++) if (tokens.size(n)) order.add(n);
  const taken = tokens.take(order.numbers);
  return { ...arraysOf(taken), ids: Uint32Array.from(order.numbers).map((n) => ids[n]),
    byteTokens: Uint32Array.from(bytes, (n) => order.index[n]), alphabetSize: 256, ignoreMerges: 1,
    merges: null, symbols: null };
}

// A list of merges. `tokens` (TokenBytes), `ids`; `merges` (Int32Array): left, right and made for each, as numbers, in
// the order of their ranks; of equal pairs the last one counts. `symbols`: null if all bytes that UTF-8 has are tokens;
// else what stands for a missing one, `{characters, byteIds: byte -> id, unk: id or null, fuseUnk}`, where `characters`
// says whether symbols are these or bytes. `unused`: the numbers that are no tokens of the model.
export function fromMerges(tokens, ids, merges, { ignoreMerges = false, symbols = null, unused = new Set() }) {
  const order = new Order(tokens.count), isSymbol = symbols?.characters ? isCharacter : (all, n) => all.size(n) === 1;
  const alphabet = [];
  for (let n = 0; n < tokens.count; n++) if (!unused.has(n) && isSymbol(tokens, n)) alphabet.push(n);
  for (const n of alphabet.sort((a, b) => ids[a] - ids[b])) order.add(n);
  const ranked = lastOfEach(merges), count = ranked.length / 3;
  for (let rank = 0; rank < count; rank++) order.add(ranked[3 * rank + 2]);
  for (let n = 0; n < tokens.count; n++) if (!unused.has(n) && tokens.size(n)) order.add(n);
  const taken = tokens.take(order.numbers), all = Array.from(order.numbers, (n) => ids[n]);
  const made = new Uint32Array(count), pairs = new Int32Array(3 * count);
  for (let rank = 0; rank < count; rank++) {
    pairs[3 * rank] = order.index[ranked[3 * rank]];
    pairs[3 * rank + 1] = order.index[ranked[3 * rank + 1]];
    pairs[3 * rank + 2] = rank;
    made[rank] = order.index[ranked[3 * rank + 2]];
  }
  let byteTokens = Uint32Array.from(taken.byteTokens, (at) => Math.max(at, 0)), table = null; // no text has the others
  if (symbols) {
    const places = new Map(all.map((id, at) => [id, at]));
    const placeOf = (id) => places.get(id) ?? places.set(id, all.push(id) - 1).get(id); // also of what is no token
    byteTokens = new Uint32Array(256).fill(NONE);
    for (const [byte, id] of symbols.byteIds) byteTokens[byte] = placeOf(id);
    const unk = symbols.unk === null ? NONE : placeOf(symbols.unk);
    table = { ...symbolTable(taken, alphabet.length, symbols.characters), characters: symbols.characters ? 1 : 0, unk,
      fuseUnk: symbols.fuseUnk ? 1 : 0, boundaryRule: boundaryRule(symbols, byteTokens, pairs, ignoreMerges) };
  }
  return { ...arraysOf(taken), ids: Uint32Array.from(all), byteTokens, symbols: table,
    alphabetSize: alphabet.length, ignoreMerges: ignoreMerges ? 1 : 0,
    merges: { pairs, made, onePairEach: new Set(made).size === count ? 1 : 0 } };
}

// The merges without those whose pair comes again later.
function lastOfEach(merges) {
  const count = merges.length / 3, key = (rank) => merges[3 * rank] * MAX_TOKENS + merges[3 * rank + 1];
  const sorted = Float64Array.from({ length: count }, (_, rank) => key(rank)).sort();
  if (!sorted.some((one, n) => n && one === sorted[n - 1])) return merges;
  const last = new Map();
  for (let rank = 0; rank < count; rank++) last.set(key(rank), rank);
  return merges.filter((_, at) => last.get(key(Math.floor(at / 3))) === Math.floor(at / 3));
}

// Whether a token is one character of UTF-8.
function isCharacter(tokens, n) {
  const first = tokens.first(n);
  return tokens.size(n) === (first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4);
}

// Whether all bytes that UTF-8 has are tokens.
export function coversUtf8(tokens, unused) {
  return tokens.byteTokens.every((n, byte) => NOT_IN_UTF8(byte) || (n >= 0 && !unused.has(n)));
}

// A text may be cut between any two characters that are adjacent in no token, if every missing one is spelled in bytes
// that don't merge. Where it may be cut changes no id.
function boundaryRule({ characters, byteIds }, byteTokens, pairs, ignoreMerges) {
  if (!characters || ignoreMerges || byteIds.size < 256) return NO_BOUNDARIES;
  const spelling = new Set(byteTokens);
  return pairs.some((at, n) => n % 3 < 2 && spelling.has(at)) ? NO_BOUNDARIES : AT_UNSEEN_PAIRS;
}

// See initial_symbols.h: a table in two stages, four times the same, as no symbol has a prefix or a suffix.
function symbolTable(tokens, alphabetSize, characters) {
  const rows = new Uint16Array(4 * BLOCKS), blocks = [new Uint32Array(256).fill(NONE)];
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  for (let at = 0; at < alphabetSize; at++) {
    const code = characters ? utf8.decode(tokens.at(at)).codePointAt(0) : tokens.first(at);
    if (!rows[code >> 8]) rows[code >> 8] = blocks.push(new Uint32Array(256).fill(NONE)) - 1;
    blocks[rows[code >> 8]][code & 255] = at;
  }
  for (let form = 1; form < 4; form++) rows.copyWithin(form * BLOCKS, 0, BLOCKS);
  const table = new Uint32Array(256 * blocks.length);
  blocks.forEach((block, n) => table.set(block, 256 * n));
  return { rows, tokens: table };
}
