// The merges of a text as steps that a slider replays, from what the library says of them (Tokenizer.trace).

const TAKEN_WHOLE = 2 ** 32 - 1; // the rank of a step that no merge makes

// {symbols, stages}. A stage is one merge wherever it happens, {rank, parts, id, steps}: `parts` are the ids it joins.
// Stages are in an order in which they may follow one another: a step comes after those of its piece before it.
function mergeStages({ symbols, steps }) {
  const tokens = [...symbols], latest = symbols.map(() => -1), byRank = new Map();
  for (const { rank, begin, stop, id } of steps) {
    const parts = tokens.slice(begin, stop).filter((part) => part !== null);
    const order = Math.max(rank, ...new Set(latest.slice(begin, stop)));
    latest.fill(order, begin, stop);
    tokens.fill(null, begin, stop);
    tokens[begin] = id;
    if (!byRank.has(order)) byRank.set(order, { rank, parts, id, steps: [] });
    byRank.get(order).steps.push({ begin, stop, id });
  }
  const order = [...byRank.keys()].sort((a, b) => a - b);
  return { symbols, stages: order.map((rank) => byRank.get(rank)) };
}

// The tokens after so many stages: {id, begin, stop}, by symbols; `isNew` where the last of these stages made it.
function tokensAfter({ symbols, stages }, count) {
  const tokens = symbols.map((id, at) => ({ id, begin: at, stop: at + 1 }));
  stages.slice(0, count).forEach(({ steps }, stage) => {
    for (const { id, begin, stop } of steps) {
      tokens.fill(null, begin, stop);
      tokens[begin] = { id, begin, stop, isNew: stage + 1 === count };
    }
  });
  return tokens.filter(Boolean);
}
