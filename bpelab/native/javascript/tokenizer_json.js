// Hugging Face's tokenizer.json: byte-level BPE, and BPE of characters with byte fallback, as SentencePiece trains it.
// What a part means is said in formats/tokenizer_json.py.

import { byteOf } from "./byte_alphabet.js";
import { readDecoder } from "./decoders.js";
import { checkKeys } from "./known_keys.js";
import { readNormalizer } from "./normalizers.js";
import { readPreTokenizer } from "./pre_tokenizers.js";
import { Refused } from "./refused.js";
import { TokenBytes } from "./token_bytes.js";
import { coversUtf8, fromMerges } from "./vocabulary.js";

const MAX_ID = (1 << 28) - 1;

export function readTokenizerJson(data, patterns) {
  const { model } = data, kind = model?.type ?? "BPE";
  if (kind !== "BPE") throw new Refused(`The model is ${String(kind).slice(0, 40)}; only BPE is served.`);
  if ((data.version ?? "1.0") !== "1.0") throw new Refused(`The version is ${data.version}; 1.0 is served.`);
  checkKeys(data, "The file");
  checkKeys(model, "The model");
  const added = readAdded(data.added_tokens ?? []), pre = readPreTokenizer(data.pre_tokenizer, patterns);
  const normalize = readNormalizer(data.normalizer, patterns.data.afterUnicode9);
  if (normalize && pre.positional) throw new Refused("A normalizer before Metaspace's scheme first is not served here.");
  const { vocabulary, byteLevel, empty } = readModel(model, added, pre.byteLevel);
  const joins = byteLevel && data.decoder?.type === "ByteLevel", decode = readDecoder(data.decoder);
  return { ...pre, vocabulary, normalize, added, byteLevel, empty, readsAdded: joins, decode: joins ? null : decode };
}

function readAdded(entries) {
  return entries.filter((token) => token.content).map((token) => {
    checkKeys(token, "An added token");
    if (token.single_word) throw new Refused(`The added token ${token.content} matches whole words: that isn't served.`);
    const special = token.special ?? false;
    return { special, normalized: !special, lstrip: false, rstrip: false, ...token };
  });
}

// The section "model", or what is like it in another format, where `vocab` may be a Map.
export function readModel(model, added, byteLevelSteps) {
  if (model.continuing_subword_prefix || model.end_of_word_suffix) {
    throw new Refused("Prefixes and suffixes of subwords are not served here.");
  }
  const vocab = model.vocab instanceof Map ? model.vocab : new Map(Object.entries(model.vocab));
  const texts = [...vocab.keys()], ids = [...vocab.values()], numbers = new Map(texts.map((text, n) => [text, n]));
  check(texts, ids, vocab, added);
  const merges = readMerges(model.merges, numbers), merged = new Uint8Array(texts.length), unused = new Set();
  for (const n of merges) merged[n] = 1;
  for (const { content, special } of added) {
    const n = numbers.get(content), foreign = byteLevelSteps && !inAlphabet(content);
    if (n === undefined || merged[n]) continue;
    if (foreign || (special && !(byteLevelSteps && isOrdinary(content)))) unused.add(n);
  }
  if (unused.size === texts.length) throw new Refused("model.vocab has nothing but added tokens.");
  const spelled = byteLevelSteps && texts.every((text, n) => unused.has(n) || inAlphabet(text));
  const complete = spelled && texts.filter((text, n) => text.length === 1 && !unused.has(n)).length === 256;
  const byteLevel = spelled && (!model.byte_fallback || complete);
  if (byteLevelSteps && !byteLevel) throw new Refused("A ByteLevel step needs tokens that are in its alphabet.");
  const used = texts.map((text, n) => (unused.has(n) ? "" : text));
  const tokens = TokenBytes.of(used, byteLevel ? writeAlphabet : undefined);
  const unk = unknownToken(model, vocab, added, complete);
  const byteIds = model.byte_fallback ? spellingIds(vocab) : new Map();
  const symbols = byteLevel && coversUtf8(tokens, unused) ? null
    : { characters: !byteLevel, byteIds, unk, fuseUnk: model.fuse_unk ?? false };
  const empty = ids.filter((_, n) => !unused.has(n) && !tokens.size(n));
  const options = { ignoreMerges: model.ignore_merges ?? false, symbols, unused };
  return { vocabulary: fromMerges(tokens, ids, merges, options), byteLevel, empty };
}

function check(texts, ids, vocab, added) {
  const wrong = ids.findIndex((id) => !Number.isInteger(id) || id < 0 || id > MAX_ID);
  if (wrong >= 0) throw new Refused(`model.vocab[${texts[wrong]}]: ${ids[wrong]} is no id below 2^28.`);
  if (new Set(ids).size < ids.length) throw new Refused("model.vocab: two tokens have one id.");
  for (const { content, id } of added) {
    if (Number.isInteger(id) && (vocab.get(content) ?? id) === id) continue;
    throw new Refused(`The added token ${content} has another id in model.vocab.`);
  }
}

function inAlphabet(text) {
  for (let i = 0; i < text.length; i++) if (byteOf(text.charCodeAt(i)) < 0) return false;
  return true;
}

// Whether a token in the byte alphabet is a single byte, or has letters for bytes.
function isOrdinary(text) { return inAlphabet(text) && (text.length === 1 || /[^\0-\x7f]/.test(text)); }

function writeAlphabet(text, to, at) {
  for (let i = 0; i < text.length; i++) to[at + i] = byteOf(text.charCodeAt(i));
  return text.length;
}

// byte -> the id of the token that spells it, such as <0xE4>.
function spellingIds(vocab) {
  const names = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  return new Map(names.map((name, byte) => [byte, vocab.get(name)]).filter(([, id]) => id !== undefined));
}

// left, right and made for each merge, as numbers of tokens.
function readMerges(entries, numbers) {
  const first = typeof entries[0] === "string" && entries[0].startsWith("#version") ? 1 : 0; // of a merges.txt
  const merges = new Int32Array(3 * (entries.length - first));
  for (let rank = first, at = 0; rank < entries.length; rank++) {
    const entry = entries[rank], [left, right, more] = typeof entry === "string" ? entry.split(" ") : entry;
    const pair = [numbers.get(left), numbers.get(right), numbers.get(left + right)];
    if (more !== undefined || pair.includes(undefined)) {
      const shown = JSON.stringify(entry).slice(0, 80);
      throw new Refused(`model.merges[${rank}]: ${shown} is no pair of tokens whose concatenation is one.`);
    }
    for (const n of pair) merges[at++] = n;
  }
  return merges;
}

function unknownToken(model, vocab, added, complete) {
  const name = model.unk_token ?? null;
  if (name === null || (complete && !name)) return null;
  const id = vocab.get(name) ?? added.find((token) => token.content === name)?.id ?? null;
  if (id === null && !complete) throw new Refused(`model.unk_token: ${name} is not in model.vocab.`);
  return id;
}
