// What TransitionPoint shows of a reader's own text: its tokens at each transition point, and which are superwords.

function ownCuts(text, tokenizers, { beyond, begins }, data) {
  const found = new Map();
  const cuts = tokenizers.map((tokenizer) => Array.from(tokenizer.encode(text), (id) => {
    const token = tokenizer.bytesOf(id), key = hex(token);
    if (!found.has(key)) found.set(key, [found.size, labelBytes(token)]);
    return found.get(key)[0];
  }));
  const superwords = tokenizers.map((tokenizer, n) => new Set(beyond[n].map((id) => hex(tokenizer.bytesOf(id)))));
  const says = cuts.map((cut, n) => `${text ? "" : "No text to cut. "}${begins[n]}${plural(cut.length, "token")}.`);
  return {
    ...data, cuts, says, say: says.at(-1), labels: [...found.values()].map(([, label]) => label),
    beyond: superwords.map((own) => [...found].filter(([key]) => own.has(key)).map(([, [place]]) => place)),
  };
}
