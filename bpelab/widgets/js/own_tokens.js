// What TokenView shows of a reader's own text.

const goesOn = (byte) => byte >= 0x80 && byte < 0xc0; // within a character of UTF-8

const tokenNames = (tokenizer, ids) => Object.fromEntries([...new Set(ids)].map((id) => {
  const bytes = tokenizer.bytesOf(id);
  return [id, [labelBytes(bytes), hex(bytes)]];
}));

// Where parts of these sizes begin, and where the last one ends.
function offsets(sizes) {
  const found = [0];
  for (const size of sizes) found.push(found.at(-1) + size);
  return found;
}

// Runs of tokens whose borders lie inside characters: [first token, last token, the characters].
function sharedCharacters(bytes, starts) {
  const runs = [];
  for (let token = 1; token < starts.length - 1; token++) {
    let first = starts[token], last = first + 1;
    if (!goesOn(bytes[first])) continue;
    while (goesOn(bytes[first])) first--;
    while (goesOn(bytes[last])) last++;
    const char = labelText(labelBytes(bytes.slice(first, last))), run = runs.at(-1);
    if (!run || run[1] < token - 1) { runs.push([token - 1, token, char]); continue; }
    run[1] = token;
    if (first >= starts[token - 1]) run[2] += char;
  }
  return runs;
}

// Two digits after the point, halves to the even one, as Python writes them.
const twoDigits = (number) => (number % 0.5 === 0.125 ? number - 0.001 : number).toFixed(2);

function ownTokens(text, tokenizers, own, { panels }) {
  const bytes = toBytes(text);
  const made = tokenizers.map((tokenizer, n) => {
    const ids = [...tokenizer.encode(text)], tokens = tokenNames(tokenizer, ids);
    const starts = offsets(ids.map((id) => tokenizer.bytesOf(id).length));
    const ratio = text ? `, ${twoDigits(bytes.length / ids.length)} bytes per token` : "";
    const summary = plural(ids.length, "token") + ratio;
    return { title: panels[n].title, ids, starts, split: sharedCharacters(bytes, starts), tokens, summary };
  });
  const counts = made.map(({ title, summary }) => (title ? `${title}: ${summary}` : summary)).join("; ");
  return { panels: made, say: text ? `${counts}.` : "No text, so no tokens." };
}
