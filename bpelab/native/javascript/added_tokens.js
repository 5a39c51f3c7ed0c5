// The search for added tokens in a text, leftmost and longest, as vocab/added_token_matcher.py defines it.
//
// Cost: one search for first characters, and a look-up for each length that a token with that one has.

import { Refused } from "./refused.js";

const WHITE = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/; // White_Space

const escape = (unit) => `\\u${unit.toString(16).padStart(4, "0")}`;

// A regular expression for where one of some strings may begin: its first code unit, and if it has more, the second.
function candidates(strings) {
  const seconds = new Map();
  for (const text of strings) {
    const [first, second] = [text.charCodeAt(0), text.charCodeAt(1)], known = seconds.get(first) ?? new Set();
    seconds.set(first, known.add(second));
  }
  const parts = Array.from(seconds, ([first, known]) =>
    known.has(NaN) ? escape(first) : `${escape(first)}(?=[${[...known].map(escape).join("")}])`);
  return new RegExp(parts.join("|"), "g");
}

export class AddedTokenMatcher {
  // `tokens`: pairs of the string to look for and the token: {id, special, lstrip, rstrip}.
  constructor(tokens) {
    this.tokens = new Map();
    this.lengths = new Map(); // first code unit -> lengths, the longest first
    for (const [text, token] of tokens) {
      if (!text || this.tokens.has(text)) continue;
      this.tokens.set(text, token);
      const first = text.charCodeAt(0), lengths = this.lengths.get(first) ?? new Set();
      this.lengths.set(first, lengths.add(text.length));
    }
    for (const [first, lengths] of this.lengths) this.lengths.set(first, [...lengths].sort((a, b) => b - a));
    this.candidates = this.tokens.size ? candidates(this.tokens.keys()) : null;
  }

  // [start, stop, token] of the first token from `position` on, whatever its flags, or null.
  first(text, position) {
    if (!this.candidates) return null;
    this.candidates.lastIndex = position;
    for (let match; (match = this.candidates.exec(text));) {
      const start = match.index;
      for (const length of this.lengths.get(text.charCodeAt(start))) {
        const token = this.tokens.get(text.slice(start, start + length));
        if (token && start + length <= text.length) return [start, start + length, token];
      }
    }
    return null;
  }

  // The tokens in a text as [start, stop, token], with the white space that they strip. A token that isn't allowed
  // hides the tokens inside it that aren't special, and nothing else.
  find(text, isAllowed) {
    const all = [];
    let position = 0, covered = 0, hidden = 0;
    for (let match; (match = this.first(text, position));) {
      let [start, stop, token] = match;
      if (!isAllowed(token)) {
        position = start + 1;
        if (start >= hidden) hidden = stop;
        continue;
      }
      if (start < hidden && !token.special) {
        position = start + 1;
        continue;
      }
      position = stop;
      while (token.lstrip && start > covered && WHITE.test(text[start - 1])) start--;
      start = Math.max(start, token.lstrip ? covered : 0);
      while (token.rstrip && stop < text.length && WHITE.test(text[stop])) stop++;
      if (start >= stop) continue; // the token before has taken it all
      all.push([start, stop, token]);
      covered = stop;
    }
    return all;
  }

  // The text as segments {text, id}: id is null for what is between the tokens.
  split(text, isAllowed) {
    const segments = [];
    let end = 0;
    for (const [start, stop, token] of this.find(text, isAllowed)) {
      if (start > end) segments.push({ text: text.slice(end, start), id: null });
      segments.push({ text: text.slice(start, stop), id: token.id });
      end = stop;
    }
    if (end < text.length) segments.push({ text: text.slice(end), id: null });
    return segments;
  }
}

// An added token without flags but `special`.
export function addedToken(content, id, special) {
  return { content, id, special, normalized: false, lstrip: false, rstrip: false };
}

// All added tokens of a tokenizer: {content, id, special, normalized, lstrip, rstrip}. Special ones are text unless the
// caller allows them; the others always match, those that are `normalized` in the normalized text.
export class AddedTokens {
  constructor(tokens, normalize) {
    this.names = new Map();
    this.special = new Map();
    for (const token of tokens) {
      if (!this.names.has(token.id)) this.names.set(token.id, token.content);
      if (token.special) this.special.set(token.content, token.id);
    }
    this.normalize = normalize ?? ((text) => text);
    this.allSpecial = tokens.every((token) => token.special);
    const late = tokens.filter((token) => token.normalized).sort((a, b) => b.special - a.special);
    const early = tokens.filter((token) => !token.normalized);
    this.raw = new AddedTokenMatcher(early.map((token) => [token.content, token]));
    this.late = new AddedTokenMatcher(late.map((token) => [this.normalize(token.content), token]));
  }

  // The names that `allowed` stands for: "all", or a list of names.
  select(allowed) {
    if (allowed === "all") return this.special;
    if (typeof allowed === "string") {
      throw new TypeError(`allowedSpecial is "all" or a list of names, not "${allowed}"`);
    }
    const unknown = [...allowed].find((name) => !this.special.has(name));
    if (unknown !== undefined) throw new Refused(`allowedSpecial names ${unknown}, which is no special token here.`);
    return new Set(allowed);
  }

  // The segments of a text: {text, id}, what is between added tokens normalized.
  split(text, allowed) {
    const names = this.select(allowed), isAllowed = (token) => !token.special || names.has(token.content);
    if (!names.size && this.allSpecial) return text ? [{ text: this.normalize(text), id: null }] : [];
    return this.raw.split(text, isAllowed).flatMap((segment) =>
      segment.id === null ? this.late.split(this.normalize(segment.text), isAllowed) : [segment]);
  }
}
