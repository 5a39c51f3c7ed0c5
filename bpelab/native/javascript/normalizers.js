// Normalizers of a tokenizer.json: functions from text to text. What isn't exact in every browser is refused by name.

import { checkKeys } from "./known_keys.js";
import { Refused } from "./refused.js";

const FORMS = ["NFC", "NFD", "NFKC", "NFKD"];

// A normal form by the rules of Unicode 9, as normalizers/forms.py defines it: characters assigned later stay as they
// are, and nothing moves across them. `later` matches a run of them, as a group.
function normalForm(form, later) {
  const apart = new RegExp(later, "u");
  return (text) => text.normalize(form) === text ? text
    : text.split(apart).map((part, n) => (n % 2 ? part : part.normalize(form))).join("");
}

function literal(pattern, what) {
  if (typeof pattern?.String === "string" && pattern.String) return pattern.String;
  throw new Refused(`${what} with a regular expression is not served here.`);
}

export function replaceString(step, what) {
  const text = literal(step.pattern, what), { content } = step;
  return (given) => given.replaceAll(text, () => content);
}

// A function for the section "normalizer", or null if it is empty. `later`: what matches characters assigned after
// Unicode 9.
export function readNormalizer(step, later) {
  if (!step) return null;
  checkKeys(step, step.type);
  if (step.type === "Sequence") {
    const steps = step.normalizers.map((one) => readNormalizer(one, later)).filter(Boolean);
    return steps.length ? (text) => steps.reduce((now, one) => one(now), text) : null;
  }
  if (FORMS.includes(step.type)) return normalForm(step.type, later);
  if (step.type === "Prepend") return (text) => (text ? step.prepend + text : text);
  if (step.type === "Replace") return replaceString(step, "The normalizer Replace");
  throw new Refused(`The normalizer ${step.type} is not served here.`);
}
