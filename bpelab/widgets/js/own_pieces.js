// What PreTokenView shows of a reader's own text: the library cuts it; an automaton for each alternative says which it was.

// Where the match that begins at `at` ends, or -1. `kinds` are the joint classes of the characters (see patterns.js).
function matchEnd({ width, start, steps, classes }, kinds, at) {
  let end = -1;
  for (let state = start; state; at++) {
    const step = steps[state * width + (classes[kinds[at]] ?? width - 1)];
    if (step & 1) end = at;
    state = step >> 1;
  }
  return end;
}

function ownPieces(text, tokenizers, { automata }, { panels }) {
  const chars = [...text], { stage1, blocks } = library.service.patterns.joint;
  const kinds = chars.map((char) => char.codePointAt(0)).map((code) => blocks[stage1[code >> 8]][code & 255]);
  const cuts = tokenizers.map((tokenizer) => offsets(tokenizer.pieces(text).map((piece) => [...piece].length)));
  const all = [...new Set(cuts.flat())].sort((a, b) => a - b);
  const differ = all.filter((at) => !cuts.every((starts) => starts.includes(at)));
  const made = panels.map(({ title, alternatives }, n) => {
    const pieces = cuts[n].slice(1).map((end, place) => {
      const start = cuts[n][place], inside = [start, ...differ.filter((at) => start < at && at < end), end];
      const ends = automata[n].map((automaton) => matchEnd(automaton, kinds, start)), first = ends.findIndex((at) => at > start);
      const segments = inside.slice(1).map((to, at) => labelBytes(toBytes(chars.slice(inside[at], to).join(""))));
      return { start, end, alternative: ends[first] === end ? first : null, segments };
    });
    const count = (which) => pieces.filter(({ alternative }) => alternative === which).length;
    return { title, pieces, alternatives: alternatives.map((one, which) => ({ ...one, count: count(which) })) };
  });
  const counts = made.map(({ title, pieces }) => `${title} ${plural(pieces.length, "piece")}`).join(", ");
  const compared = differ.length ? ` The cuts differ in ${plural(differ.length, "place")}.` : " All cuts are the same.";
  return { panels: made, differ, say: text ? `${counts}.${made.length > 1 ? compared : ""}` : "No text, so no pieces." };
}
