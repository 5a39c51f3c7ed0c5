// Files of ranks: tiktoken's `.tiktoken`, and Mistral's tekken.json, which has a pattern and special tokens too.

import { addedToken } from "./added_tokens.js";
import { Refused } from "./refused.js";
import { TokenBytes } from "./token_bytes.js";
import { BYTES } from "./tokenizer.js";
import { fromRanks } from "./vocabulary.js";

const EARLY_SPECIAL_TOKENS = ("<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] " +
  "[/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] " +
  "[/SYSTEM_PROMPT] [TOOL_CONTENT]").split(" ");
const MAY_LIST_NONE = ["v1", "v2", "v3", "v7"], MAX_ID = (1 << 28) - 1;
const NEWLINE = 10, SPACE = 32, EQUALS = 61, SHORTEST_LINE = 4; // "= 0" and its end
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SIX_BITS = new Int8Array(256).fill(-1);
const utf8 = new TextEncoder();
for (let n = 0; n < 64; n++) SIX_BITS[DIGITS.charCodeAt(n)] = n;

// Write to an array, from an offset on, the bytes that codes[begin:end] are in Base64; their number, or -1 if it is none.
// `=` alone stands for no byte, as in Whisper's file.
function writeBase64(codes, begin, end, to, at) {
  const padding = codes[end - 1] !== EQUALS ? 0 : codes[end - 2] !== EQUALS || end - begin < 2 ? 1 : 2;
  const size = end - begin - padding;
  if (size && (end - begin) % 4) return -1;
  let written = 0, bits = 0;
  for (let i = 0; i < size; i++) {
    const six = SIX_BITS[codes[begin + i]];
    if (six < 0) return -1;
    bits = bits << 6 | six;
    if (i % 4) to[at + written++] = bits >> (6 - 2 * (i % 4));
  }
  return written;
}

// The whole number whose digits are codes[begin:end], or NaN.
function readNumber(codes, begin, end) {
  let number = begin < end ? 0 : NaN;
  for (let i = begin; i < end; i++) number = codes[i] >= 48 && codes[i] < 58 ? 10 * number + codes[i] - 48 : NaN;
  return number;
}

// Tokens and their ids from lines of Base64, a space and the id; what `where` says of a line's number begins a refusal.
function readLines(codes, where) {
  const most = Math.ceil(codes.length / SHORTEST_LINE), tokens = new TokenBytes(most, codes.length);
  const ids = new Uint32Array(most);
  for (let line = 1, begin = 0, end; begin < codes.length; line++, begin = end + 1) {
    end = codes.indexOf(NEWLINE, begin);
    if (end < 0) end = codes.length;
    let stop = end, gap = begin;
    while (stop > begin && codes[stop - 1] <= SPACE) stop--;
    if (stop === begin) continue;
    while (gap < stop && codes[gap] !== SPACE) gap++;
    const id = readNumber(codes, gap + 1, stop);
    const size = gap > begin && id <= MAX_ID ? writeBase64(codes, begin, gap, tokens.bytes, tokens.end) : -1;
    if (size < 0) throw new Refused(`${where(line)}: expected a token in Base64, a space and a rank below 2^28.`);
    ids[tokens.count] = id;
    tokens.add(size);
  }
  return { tokens, ids: ids.subarray(0, tokens.count) };
}

function ascend(ids) {
  for (let n = 1; n < ids.length; n++) if (ids[n - 1] >= ids[n]) return false;
  return true;
}

// The vocabulary of tokens, whose ids are in the order of their ranks.
function fromLines({ tokens, ids }) {
  if (!ascend(ids)) {
    const order = Uint32Array.from(ids.keys()).sort((a, b) => ids[a] - ids[b]), sorted = ids.slice().sort();
    if (!ascend(sorted)) throw new Refused(`Two tokens have the rank ${sorted.find((id, n) => id === sorted[n + 1])}.`);
    return fromLines({ tokens: tokens.take(order), ids: sorted });
  }
  if (tokens.repeats) throw new Refused("Two tokens have the same bytes.");
  const empty = [];
  for (let n = 0; n < tokens.count; n++) if (!tokens.size(n)) empty.push(ids[n]);
  return { vocabulary: fromRanks(tokens, ids), empty };
}

// `pattern` as for `Patterns.find` in Rust's dialect; `normalize` as published with the file, or null.
export function readRankFile(bytes, patterns, pattern, normalize, specialTokens = {}) {
  const levels = [[patterns.find(pattern, "rust"), 0, ""]];
  const added = Object.entries(specialTokens).map(([name, id]) => addedToken(name, id, true));
  return { ...BYTES, ...fromLines(readLines(bytes, (line) => `line ${line}`)), normalize, levels, added };
}

export function readTekken(data, patterns) {
  const { config, vocab } = data, first = config.default_num_special_tokens, size = config.default_vocab_size - first;
  if (!(size >= 256 && size <= vocab.length)) {
    throw new Refused(`config.default_vocab_size asks for ${size} tokens of ${vocab.length}.`);
  }
  const lines = vocab.slice(0, size).map(({ rank, token_bytes: text }, n) => {
    if (rank !== n) throw new Refused(`vocab[${n}].rank: expected ${n}, as tokens are listed by rank.`);
    if (typeof text !== "string" || /\s/.test(text)) throw new Refused(`vocab[${n}].token_bytes is not Base64.`);
    return `${text} ${first + rank}`;
  });
  const tokens = readLines(utf8.encode(lines.join("\n")), (line) => `vocab[${line - 1}]`);
  if (!data.special_tokens && !MAY_LIST_NONE.includes(config.version)) throw new Refused("special_tokens is missing.");
  const names = data.special_tokens?.map((token) => token.token_str) ?? [...EARLY_SPECIAL_TOKENS];
  while (names.length < first) names.push(`<SPECIAL_${names.length}>`);
  if (names.length > first || new Set(names).size < first) {
    throw new Refused(`special_tokens: expected ${first} different ones.`);
  }
  const added = names.map((name, id) => addedToken(name, id, true));
  return { ...BYTES, ...fromLines(tokens), levels: [[patterns.find(config.pattern, "rust"), 0, ""]], added };
}
