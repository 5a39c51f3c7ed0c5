// Pre-tokenizers of a tokenizer.json: how a text is prepared, and the automata that split it one after another, as
// native/plan.py defines them. Refused by name: whatever no automaton in patterns.json runs.

import { checkKeys } from "./known_keys.js";
import { Refused } from "./refused.js";

const ALL = 0, MATCHES = 1, GAPS = 2;

const DEFAULTS = { // of the keys that a file may leave out
  ByteLevel: { add_prefix_space: true, use_regex: true },
  Digits: { individual_digits: false },
  Punctuation: { behavior: "Isolated" },
  Split: { invert: false },
};

function steps(step) {
  if (!step) return [];
  checkKeys(step, step.type);
  return step.type === "Sequence" ? step.pretokenizers.flatMap(steps) : [step];
}

// Spaces become `replacement`, and one is put before the text: always, or before the first segment of the input.
function escaping({ replacement, prepend_scheme: scheme = "always" }) {
  return (text, first) => {
    const escaped = text.replaceAll(" ", () => replacement);
    const prepends = scheme === "always" || (scheme === "first" && first);
    return escaped && prepends && !escaped.startsWith(replacement) ? replacement + escaped : escaped;
  };
}

// {byteLevel, prepare, positional, levels: [[automaton, kept, required]]}: whether the model's tokens are bytes, the
// function (text, first) -> text that comes first, or null, whether it asks for `first`, and the automata.
export function readPreTokenizer(given, patterns) {
  const made = { byteLevel: false, prepare: null, positional: false, levels: [] };
  steps(given).forEach((step, index) => {
    const own = { ...DEFAULTS[step.type], ...step };
    const refuse = (why) => { throw new Refused(`The pre-tokenizer ${step.type}${why} is not served here.`); };
    const component = (key) => patterns.data.components[JSON.stringify(key)] ?? refuse(" with these options");
    if (made.byteLevel) refuse(" after ByteLevel");
    if (own.type === "ByteLevel") {
      made.byteLevel = true;
      if (own.add_prefix_space) {
        if (index) refuse(" with add_prefix_space after another step");
        made.prepare = (text) => (text && !text.startsWith(" ") ? ` ${text}` : text);
      }
      if (own.use_regex) made.levels.push([patterns.find("gpt2", "rust"), ALL, ""]);
    } else if (own.type === "Metaspace") {
      if (index) refuse(" after another step");
      if (own.add_prefix_space === false && own.prepend_scheme !== "never") refuse(" with two schemes");
      made.prepare = escaping(own);
      made.positional = own.prepend_scheme === "first";
      const split = { type: "Split", pattern: { String: own.replacement }, behavior: "MergedWithNext", invert: false };
      if (own.split !== false) made.levels.push(...component(split));
    } else if (own.type === "Split" && own.pattern.Regex !== undefined) {
      const kept = { Isolated: ALL, Removed: own.invert ? MATCHES : GAPS }[own.behavior];
      if (kept === undefined) refuse(` with ${own.behavior}`);
      made.levels.push([patterns.find(own.pattern.Regex, "oniguruma"), kept, ""]);
    } else if (own.type === "Split") {
      const { type, pattern, behavior, invert } = own;
      made.levels.push(...component({ type, pattern, behavior, invert }));
    } else if (own.type === "Digits") {
      made.levels.push(...component({ type: own.type, individual_digits: own.individual_digits }));
    } else if (own.type === "Punctuation") {
      made.levels.push(...component({ type: own.type, behavior: own.behavior }));
    } else {
      made.levels.push(...component({ type: own.type }));
    }
  });
  return made;
}
