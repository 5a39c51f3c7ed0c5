// The labels of tokens, as visible.py makes them, by the library's Unicode, whichever one the browser has.

// How a character is shown: 0 as it is, 1 as a mark on what precedes it, 2 by its code point. See library.py for `runs`.
function makeLook(runs) {
  const starts = [];
  let at = 0;
  for (const run of runs) { starts.push(at); at += run >> 2; }
  return (char) => { // the last run that begins at or before the code point
    const code = char.codePointAt(0);
    let low = 0, high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= code) low = middle; else high = middle;
    }
    return runs[low] & 3;
  };
}

// The label of a token.
function visible(bytes, look) {
  const parts = [], lead = (byte) => (byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0);
  const add = (kind, text) => {
    const last = parts.at(-1);
    if (last && last[0] === kind && kind !== "x" && kind !== "u") last[1] += text; else parts.push([kind, text]);
  };
  for (let at = 0; at < bytes.length;) {
    const char = Uint8Array.from(bytes.slice(at, at + lead(bytes[at])));
    let text = "";
    try { text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(char); } catch { text = ""; }
    if (!text) { add("x", bytes[at++].toString(16).toUpperCase().padStart(2, "0")); continue; }
    at += char.length;
    const sign = { " ": ["s", "·"], "\t": ["s", "→"], "\n": ["n", "⏎"] }[text];
    const after = parts.length && parts.at(-1)[0] === "";
    if (sign) add(...sign);
    else if (look(text) === 0 || (look(text) === 1 && after)) add("", text);
    else add("u", `U+${text.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
  }
  return parts;
}
