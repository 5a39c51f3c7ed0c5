// The keys of a tokenizer.json that are known: another one could change ids, so a file that has it is refused.

import { Refused } from "./refused.js";

const KEYS = { // what is served -> its keys, beside "type"
  "The file": ["version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
    "decoder", "model"],
  "The model": ["dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
    "ignore_merges", "vocab", "merges"],
  "An added token": ["id", "content", "special", "single_word", "lstrip", "rstrip", "normalized"],
  Sequence: ["normalizers", "pretokenizers", "decoders"],
  ByteLevel: ["add_prefix_space", "trim_offsets", "use_regex"],
  BPEDecoder: ["suffix"],
  Digits: ["individual_digits"],
  Metaspace: ["replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"],
  Prepend: ["prepend"],
  Punctuation: ["behavior"],
  Replace: ["pattern", "content"],
  Split: ["pattern", "behavior", "invert"],
  Strip: ["content", "start", "stop"],
};
for (const type of "NFC NFD NFKC NFKD ByteFallback Fuse BertPreTokenizer Whitespace WhitespaceSplit".split(" ")) {
  KEYS[type] = [];
}

// Refuse an object with a key that isn't known; `what` is a key of KEYS, or what will be refused by that name.
export function checkKeys(object, what) {
  const known = Object.hasOwn(KEYS, what) ? KEYS[what] : Object.keys(object);
  const key = Object.keys(object).find((one) => one !== "type" && !known.includes(one));
  if (key !== undefined) throw new Refused(`${what} has the key ${key.slice(0, 60)}, which is not served here.`);
}
