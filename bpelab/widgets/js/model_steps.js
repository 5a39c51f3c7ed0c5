// What a figure knows of each token that the model read: its row of numbers after each layer, the attention of each
// head, and what could come next. It was recorded by widgets/model_view.py, or is computed here by language_model.js.

const unpacked = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
// The recording as steps: for each id its rows, the attention of each layer's heads, and what could come next.
function recordedSteps({ ids, best, came, attention, rows, shape }) {
  const weights = unpacked(attention), numbers = new Int8Array(unpacked(rows).buffer);
  const per = shape.layers + 1, { width } = shape;
  let at = 0;
  return ids.map((id, place) => {
    const head = () => Float32Array.from(weights.subarray(at, at += place + 1), (weight) => weight / 255);
    const row = (_, line) => numbers.subarray((place * per + line) * width, (place * per + line + 1) * width);
    return {
      id,
      best: best[place],
      came: came[place],
      attention: Array.from({ length: shape.layers }, () => Array.from({ length: shape.heads }, head)),
      rows: Array.from({ length: per }, row),
    };
  });
}

// One more step of the model itself.
function computedStep(language, id, count) {
  const rows = [], attention = [];
  const logits = language.feed(id, (row, weights) => {
    rows.push(row);
    if (weights.length) attention.push(weights);
  });
  const shares = softmax(logits), order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]);
  return { id, rows, attention, logits, shares, best: order.slice(0, count).map((token) => [token, shares[token]]) };
}
