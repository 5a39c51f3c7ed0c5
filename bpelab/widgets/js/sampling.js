// Sampling in a page: the next token from its logits, as chat/sampling.py chooses it. Cost: O(vocabulary), or
// O(vocabulary * log(vocabulary)) with top-k or top-p.

// Probabilities: e to the power of each logit, divided by their sum.
function softmax(logits) {
  const highest = logits[greedy(logits)], powers = new Float64Array(logits.length);
  let sum = 0;
  for (let id = 0; id < logits.length; id++) sum += powers[id] = Math.exp(logits[id] - highest);
  return powers.map((power) => power / sum);
}

// The most likely token, the lowest id among equals.
function greedy(logits) {
  return logits.reduce((best, logit, id) => (logit > logits[best] ? id : best), 0);
}

// A token drawn as chat/sampling.py draws it: `number`, from 0 to 1, falls into its share of what the settings allow.
function sample(logits, { temperature = 1, topK = 0, topP = 1, minP = 0 } = {}, number = Math.random()) {
  if (!temperature) return greedy(logits);
  const highest = logits[greedy(logits)];
  const scores = Float64Array.from(logits, (logit) => (logit - highest) / temperature);
  const least = topK > 0 && topK < scores.length ? Float64Array.from(scores).sort()[scores.length - topK] : -Infinity;
  const weights = scores.map((score) => (score < least ? 0 : Math.exp(score)));
  if (topP < 1) {
    const order = [...weights.keys()].sort((a, b) => scores[b] - scores[a]);
    const enough = topP * weights.reduce((sum, weight) => sum + weight, 0);
    let before = 0;
    order.forEach((id, place) => {
      const own = weights[id];
      if (place && before >= enough) weights[id] = 0;
      before += own;
    });
  }
  const ends = [], ids = [];
  let sum = 0;
  weights.forEach((weight, id) => {
    if (weight < minP || !weight) return;
    ids.push(id);
    ends.push(sum += weight);
  });
  const place = ends.findIndex((end) => end > number * sum);
  return ids[place < 0 ? ids.length - 1 : place];
}
