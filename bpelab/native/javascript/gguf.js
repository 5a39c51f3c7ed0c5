// The vocabulary in the header of a GGUF file; weights are not read. Served is "gpt2", BPE of bytes with merges.

import { addedToken } from "./added_tokens.js";
import { byteOf } from "./byte_alphabet.js";
import { Refused } from "./refused.js";
import { BYTES } from "./tokenizer.js";
import { readModel } from "./tokenizer_json.js";

const UINT32 = 4, STRING = 8, ARRAY = 9, UINT64 = 10, READERS = { // type -> [bytes, reader]
  0: [1, "getUint8"], 1: [1, "getInt8"], 2: [2, "getUint16"], 3: [2, "getInt16"], 4: [4, "getUint32"],
  5: [4, "getInt32"], 6: [4, "getFloat32"], 7: [1, "getUint8"], 10: [8, "getBigUint64"], 11: [8, "getBigInt64"],
  12: [8, "getFloat64"],
};
const UNKNOWN = 2, CONTROL = 3, USER_DEFINED = 4;
const ROLES = ["bos", "eos", "unknown", "padding"], MAX_DEPTH = 4;

class Header {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  }
  skip(size) { // the offset before
    const here = this.at;
    if (!(size <= this.bytes.length - here)) throw new Refused("The file ends inside its header.");
    this.at += size;
    return here;
  }
  number(type) {
    if (!READERS[type]) throw new Refused(`A value in the header has the unknown type ${type}.`);
    const [size, reader] = READERS[type];
    return Number(this.view[reader](this.skip(size), true));
  }
  string() {
    const size = this.number(UINT64), begin = this.skip(size);
    return this.utf8.decode(this.bytes.subarray(begin, begin + size));
  }
  value(type, depth = 0) {
    if (type === STRING) return this.string();
    if (type !== ARRAY) return this.number(type);
    const of = this.number(UINT32), count = this.number(UINT64), items = [];
    if (depth > MAX_DEPTH || count > this.bytes.length) throw new Refused("An array in the header is impossible.");
    for (let n = 0; n < count; n++) items.push(this.value(of, depth + 1));
    return items;
  }
}

// The key-value pairs at the beginning of a GGUF file.
export function readHeader(bytes) {
  const header = new Header(bytes), found = new Map();
  header.skip(4);
  const version = header.number(UINT32);
  if (version !== 2 && version !== 3) throw new Refused(`The GGUF's version is ${version}; 2 and 3 are served.`);
  header.number(UINT64); // tensors
  for (let left = header.number(UINT64); left > 0; left--) {
    const key = header.string(), type = header.number(UINT32);
    found.set(key, header.value(type));
  }
  return found;
}

export function readGguf(bytes, patterns) {
  const found = readHeader(bytes), get = (key) => found.get(`tokenizer.ggml.${key}`);
  const kind = get("model"), name = get("pre"), { gguf } = patterns.data;
  if (kind !== "gpt2") throw new Refused(`The GGUF's tokenizer is ${kind}; served is gpt2, BPE of bytes with merges.`);
  if (!Object.hasOwn(gguf, name ?? "")) throw new Refused(`The GGUF's pre-tokenizer ${name} is not served here.`);
  const texts = get("tokens"), types = get("token_type") ?? [], vocab = new Map();
  const control = new Set(ROLES.map((role) => get(`${role}_token_id`)).filter((id) => id !== undefined));
  texts.forEach((_, id) => { if (types[id] === CONTROL || types[id] === UNKNOWN) control.add(id); });
  const added = [];
  texts.forEach((content, id) => {
    if (vocab.has(content)) throw new Refused(`tokens[${id}]: ${content} is there twice.`);
    vocab.set(content, id);
    if (!control.has(id) && types[id] !== USER_DEFINED) return;
    added.push(addedToken(content, id, control.has(id)));
  });
  texts.forEach((content, id) => { if (types[id] === USER_DEFINED && isNoText(content)) vocab.delete(content); });
  const merges = get("merges").map((merge) => {
    const gap = merge.indexOf(" ", 1);
    return [merge.slice(0, gap), merge.slice(gap + 1)];
  });
  const { vocabulary, empty } = readModel({ vocab, merges, ignore_merges: gguf[name].ignoreMerges }, added, true);
  return { ...BYTES, vocabulary, empty, levels: gguf[name].steps, added };
}

// Whether a token is a letter of the byte alphabet for a byte that UTF-8 never has: as a user-defined token it means
// the letter itself.
function isNoText(content) {
  const byte = content.length === 1 ? byteOf(content.charCodeAt(0)) : -1;
  return byte === 0xc0 || byte === 0xc1 || byte >= 0xf5;
}
