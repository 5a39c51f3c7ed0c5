// A tokenizer in a page. The pattern runs as the automaton of regex/dfa.py, with the library's Unicode classes, and
// pairs merge as in encoders/naive.py, so ids are the library's, whichever Unicode the browser has.

function makeSplitter({ starts, classes, width, trans, entries }) {
  function kind(code) { // the last run that begins at or before the code point
    let low = 0, high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= code) low = middle; else high = middle;
    }
    return classes[low];
  }
  function split(text) {
    const chars = [...text], codes = chars.map((char) => kind(char.codePointAt(0)) >> 2), pieces = [];
    codes.push(width - 1); // the end of the text
    let gap = 0, at = 0;
    const cut = (from, to) => from < to && pieces.push(chars.slice(from, to).join(""));
    while (at < chars.length) {
      let state = entries[codes[at ? at - 1 : chars.length]], end = -1;
      for (let next = at; state && next < codes.length; next++) {
        const step = trans[state * width + codes[next]];
        if (step & 1) end = next;
        state = step >> 1;
      }
      if (end <= at) { at += 1; continue; } // no match begins here
      cut(gap, at);
      cut(at, end);
      gap = at = end;
    }
    cut(gap, chars.length);
    return pieces;
  }
  // How a character is shown: 0 as it is, 1 as a mark on what precedes it, 2 by its code point.
  return { split, look: (char) => kind(char.codePointAt(0)) & 3 };
}

// Tokens 0 to 255 are the bytes, and merge number n makes token 256 + n. `flat` has two ids for each merge.
function makeEncoder(splitter, flat) {
  const ranks = new Map(), size = 256 + flat.length / 2, utf8 = new TextEncoder();
  for (let rank = 0; rank < flat.length / 2; rank++) ranks.set(flat[2 * rank] * size + flat[2 * rank + 1], rank);

  // Merge the pair of the lowest rank below `limit`, everywhere from left to right, until there is none.
  function merge(ids, limit, used) {
    for (;;) {
      let best = limit;
      for (let at = 1; at < ids.length; at++) best = Math.min(best, ranks.get(ids[at - 1] * size + ids[at]) ?? limit);
      if (best === limit) return ids;
      if (used) used.set(best, used.get(best) || 0);
      const left = flat[2 * best], right = flat[2 * best + 1], merged = [];
      for (let at = 0; at < ids.length; at++) {
        const fits = ids[at] === left && ids[at + 1] === right;
        merged.push(fits ? 256 + best : ids[at]);
        if (!fits) continue;
        at += 1;
        if (used) used.set(best, used.get(best) + 1);
      }
      ids = merged;
    }
  }
  const encode = (text, limit = Infinity, used = null) =>
    splitter.split(text).flatMap((piece) => merge([...utf8.encode(piece)], limit, used));
  function bytes(id) {
    return id < 256 ? [id] : [...bytes(flat[2 * (id - 256)]), ...bytes(flat[2 * (id - 256) + 1])];
  }
  return { encode, bytes };
}

// The label of a token: see visible.py.
function visible(bytes, look) {
  const parts = [], lead = (byte) => (byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0);
  const add = (kind, text) => {
    const last = parts[parts.length - 1];
    if (last && last[0] === kind && kind !== "x" && kind !== "u") last[1] += text; else parts.push([kind, text]);
  };
  for (let at = 0; at < bytes.length;) {
    const char = Uint8Array.from(bytes.slice(at, at + lead(bytes[at])));
    let text = "";
    try { text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(char); } catch { text = ""; }
    if (!text) { add("x", bytes[at++].toString(16).toUpperCase().padStart(2, "0")); continue; }
    at += char.length;
    const sign = { " ": ["s", "·"], "\t": ["s", "→"], "\n": ["n", "⏎"] }[text];
    const after = parts.length && parts[parts.length - 1][0] === "";
    if (sign) add(...sign);
    else if (look(text) === 0 || (look(text) === 1 && after)) add("", text);
    else add("u", `U+${text.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
  }
  return parts;
}
