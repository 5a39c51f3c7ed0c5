// What StreamBuffer shows of a reader's own text. It is valid, so only the start of a character can be held back.

function bitsOf(byte) {
  const bits = byte.toString(2).padStart(8, "0"), mark = /^1*0/.exec(bits)[0];
  return [hex([byte]), mark, bits.slice(mark.length)];
}

function ownPushes(text, [tokenizer]) {
  const ids = [...tokenizer.encode(text)], tokens = tokenNames(tokenizer, ids);
  let pending = [];
  const steps = ids.map((id) => {
    const token = tokenizer.bytesOf(id), all = [...pending, ...token];
    let last = all.length - 1; // where the last character begins
    while (goesOn(all[last])) last--;
    const size = Math.max(1, Math.clz32(~(all[last] << 24))), present = all.length - last;
    pending = present < size ? all.slice(last) : [];
    const shown = labelBytes(all.slice(0, all.length - pending.length));
    const held = pending.length ? `${present} of the ${size} bytes of a character ${present === 1 ? "is" : "are"}` : "nothing is";
    const say = `Push id ${id}, ${hex(token)}: ${shown.length ? `${quote(shown)} is` : "nothing is"} shown, and ${held} held back.`;
    return { id, new: shown, held: pending.map(bitsOf), missing: pending.length ? size - present : 0, say };
  });
  const end = text ? "Finish: nothing was held back." : "No text, so no ids.";
  if (text) steps.push({ id: null, new: [], held: [], missing: 0, say: end });
  return { ids, steps, tokens, begin: text ? `${plural(ids.length, "id")}, none pushed yet. The screen is empty.` : end, say: end };
}
