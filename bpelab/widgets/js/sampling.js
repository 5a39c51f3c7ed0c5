// Sampling in a page: the next token from its logits, as chat/sampling.py chooses it. Cost: O(vocabulary).

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

// A token drawn as chat/sampling.py draws it: `number`, from 0 to 1, falls into a token's share of the probability.
function sample(logits, temperature, number = Math.random()) {
  if (!temperature) return greedy(logits);
  const highest = logits[greedy(logits)], ends = [];
  let sum = 0;
  for (const logit of logits) ends.push(sum += Math.exp((logit - highest) / temperature));
  const place = ends.findIndex((end) => end > number * sum);
  return place < 0 ? ends.indexOf(sum) : place;
}
