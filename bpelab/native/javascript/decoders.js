// Decoders of a tokenizer.json: functions from the tokens of a text, as the file spells them, to the next one's tokens.

import { fromAlphabet } from "./byte_alphabet.js";
import { checkKeys } from "./known_keys.js";
import { replaceString } from "./normalizers.js";
import { Refused } from "./refused.js";

const SPELLED = /^<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>$/; // Rust reads +A as a number
const utf8 = new TextEncoder();

export function joinBytes(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}

// Bytes as text; what isn't UTF-8 becomes U+FFFD.
export function toText(bytes) { return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes); }

// The bytes that a run of tokens such as <0xE4> spells: their text, or U+FFFD for each if they aren't UTF-8.
function spelledText(bytes) {
  try {
    return [new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes))];
  } catch {
    return bytes.map(() => "\ufffd");
  }
}

function byteFallback(tokens) {
  const texts = [];
  let bytes = [];
  const flush = () => { if (bytes.length) texts.push(...spelledText(bytes)); bytes = []; };
  for (const token of tokens) {
    const spelled = SPELLED.exec(token);
    if (spelled) { bytes.push(parseInt(spelled[1], 16)); continue; }
    flush();
    texts.push(token);
  }
  flush();
  return texts;
}

function strip({ content, start, stop }) {
  return (token) => {
    const chars = [...token];
    let first = 0, last = chars.length;
    while (first < start && chars[first] === content) first++;
    for (let n = 0; n < stop && last > first && chars[last - 1] === content; n++) last--;
    return chars.slice(first, last).join("");
  };
}

const byteLevel = (tokens) => [toText(joinBytes(tokens.map((token) => fromAlphabet(token) ?? utf8.encode(token))))];

// A function from tokens to texts for the section "decoder"; an empty one joins by spaces, as Hugging Face does.
export function readDecoder(step) {
  if (!step) return (tokens) => [tokens.join(" ")];
  checkKeys(step, step.type);
  if (step.type === "Sequence") {
    const steps = step.decoders.map(readDecoder);
    return (tokens) => steps.reduce((now, one) => one(now), tokens);
  }
  if (step.type === "ByteLevel") return byteLevel;
  if (step.type === "ByteFallback") return byteFallback;
  if (step.type === "Fuse") return (tokens) => [tokens.join("")];
  if (step.type === "Strip") return (tokens) => tokens.map(strip(step));
  if (step.type === "Replace") {
    const replace = replaceString(step, "The decoder Replace");
    return (tokens) => tokens.map(replace);
  }
  if (step.type === "Metaspace") {
    const { replacement, prepend_scheme: scheme = "always" } = step;
    return (tokens) => tokens.map((token, n) =>
      token.replaceAll(replacement, () => (n || scheme === "never" ? " " : "")));
  }
  if (step.type === "BPEDecoder" && (step.suffix ?? "</w>")) {
    const suffix = step.suffix ?? "</w>";
    return (tokens) => tokens.map((token, n) => token.replaceAll(suffix, n === tokens.length - 1 ? "" : " "));
  }
  throw new Refused(`The decoder ${step.type} is not served here.`);
}
