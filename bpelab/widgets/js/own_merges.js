// What MergePlayer shows of a reader's own text: the library's trace of its merges, and a sentence for each.

function ownMerges(text, [tokenizer]) {
  const { symbols, steps } = tokenizer.trace(text), now = symbols.map((id, begin) => ({ id, begin })), labels = {};
  const name = (id) => quote(labels[id] ??= labelBytes(tokenizer.bytesOf(id)));
  symbols.forEach(name);
  const made = steps.map(({ rank, begin, id }, n) => {
    const position = now.findIndex((token) => token.begin === begin);
    const [left, right] = now.splice(position, 2, { id, begin });
    const say = `Merge ${n + 1} of ${steps.length}: rank ${digits(rank)} joins ${name(left.id)} and ${name(right.id)
      } at position ${position} into ${name(id)}, id ${id}. ${plural(now.length, "token")} ${now.length === 1 ? "is" : "are"} left.`;
    return { rank, position, take: 2, token: id, pair: [left.id, right.id], say };
  });
  const pieces = offsets(tokenizer.pieces(text).map((piece) => toBytes(piece).length)).slice(0, -1);
  const begin = text ? `${plural(symbols.length, "byte")}, each a token of its own. Nothing is merged yet.` : "No text, so no tokens.";
  const say = made.length ? made.at(-1).say : begin;
  return { leaves: symbols, pieces, steps: made, ids: now.map(({ id }) => id), labels, begin, say };
}
