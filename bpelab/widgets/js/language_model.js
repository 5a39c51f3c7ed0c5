// A Llama that runs in a page: ids in, the logits of the next token out.
//
// The definition is chat/backends/reference.py, which explains the steps; ids are equal to its, and logits within 1e-4
// (tests/widgets/test_language_model.py). Here one token is computed at a time. Keys and values of earlier tokens stay
// in the KV cache, so a new token costs two operations per weight, and O(cached tokens) per layer for attention.
// Numbers are stored as float32, and sums are made in float64. Nothing here needs a page: it runs in workers and node.

// Entries of config.json which say that a model computes differently.
const OTHERS = ["rope_scaling", "rope_parameters", "sliding_window", "attention_bias", "mlp_bias", "quantization_config"];

// A model with an empty cache, of `config` (what config.json says) and the tensors of its file.
function makeLanguageModel(config, tensors) {
  const width = config.hidden_size, inner = config.intermediate_size, heads = config.num_attention_heads;
  const kvHeads = config.num_key_value_heads ?? heads, size = config.head_dim ?? width / heads, pairs = size / 2;
  const context = config.max_position_embeddings, vocabulary = config.vocab_size, epsilon = config.rms_norm_eps;
  const other = OTHERS.find((key) => config[key]);
  if (other || config.model_type !== "llama" || (config.hidden_act ?? "silu") !== "silu") {
    throw new Error(`This page runs plain Llamas, and this model's ${other ?? "architecture"} makes it another one.`);
  }
  function weight(name, ...shape) {
    const tensor = tensors.get(`${name}.weight`);
    if (!tensor) throw new Error(`The weights ${name} are missing.`);
    if (tensor.shape.join() !== shape.join()) throw new Error(`The weights ${name} are ${tensor.shape}, not ${shape}.`);
    return tensor.numbers;
  }
  const embedding = weight("model.embed_tokens", vocabulary, width);
  const head = config.tie_word_embeddings ? embedding : weight("lm_head", vocabulary, width);
  const lastNorm = weight("model.norm", width);
  const layers = Array.from({ length: config.num_hidden_layers }, (_, number) => {
    const own = (name, ...shape) => weight(`model.layers.${number}.${name}`, ...shape);
    return {
      attentionNorm: own("input_layernorm", width),
      query: own("self_attn.q_proj", heads * size, width),
      key: own("self_attn.k_proj", kvHeads * size, width),
      value: own("self_attn.v_proj", kvHeads * size, width),
      output: own("self_attn.o_proj", width, heads * size),
      mlpNorm: own("post_attention_layernorm", width),
      gate: own("mlp.gate_proj", inner, width),
      up: own("mlp.up_proj", inner, width),
      down: own("mlp.down_proj", width, inner),
      keys: new Float32Array(context * kvHeads * size), // the cache: a row for each token
      values: new Float32Array(context * kvHeads * size),
    };
  });
  const frequencies = Float32Array.from({ length: pairs }, (_, pair) => (config.rope_theta ?? 10000) ** (-pair / pairs));
  let filled = 0;

  // Each row of the matrix, multiplied with the input and added up.
  function times(matrix, input) {
    const output = new Float32Array(matrix.length / input.length);
    for (let row = 0, at = 0; row < output.length; row++) {
      let sum = 0;
      for (let column = 0; column < input.length; column++) sum += matrix[at++] * input[column];
      output[row] = sum;
    }
    return output;
  }
  // RMSNorm: a mean square of 1, then the weights.
  function normalized(row, weights) {
    const square = row.reduce((sum, number) => sum + number * number, 0) / row.length;
    return row.map((number, at) => number / Math.sqrt(square + epsilon) * weights[at]);
  }
  // RoPE: numbers i of a head's two halves are a point, turned by an angle that grows with the position.
  function rotate(row) {
    for (let start = 0; start < row.length; start += size) {
      for (let pair = 0; pair < pairs; pair++) {
        const angle = Math.fround(filled * frequencies[pair]), cosine = Math.cos(angle), sine = Math.sin(angle);
        const one = row[start + pair], two = row[start + pairs + pair];
        row[start + pair] = one * cosine - two * sine;
        row[start + pairs + pair] = two * cosine + one * sine;
      }
    }
    return row;
  }
  // The new token's query weighs the keys of all tokens up to its own, and mixes their values by these weights.
  function attend(row, layer) {
    const step = kvHeads * size, count = filled + 1, mixed = new Float32Array(heads * size), all = [];
    const queries = rotate(times(layer.query, row));
    layer.keys.set(rotate(times(layer.key, row)), filled * step);
    layer.values.set(times(layer.value, row), filled * step);
    for (let number = 0; number < heads; number++) {
      const start = number * size, shared = Math.floor(number * kvHeads / heads) * size; // neighbours may share keys
      const scores = new Float64Array(count);
      for (let place = 0; place < count; place++) {
        for (let at = 0; at < size; at++) scores[place] += queries[start + at] * layer.keys[place * step + shared + at];
        scores[place] /= Math.sqrt(size);
      }
      const weights = softmax(scores);
      for (let place = 0; place < count; place++) {
        for (let at = 0; at < size; at++) mixed[start + at] += weights[place] * layer.values[place * step + shared + at];
      }
      all.push(weights);
    }
    return { added: times(layer.output, mixed), weights: all };
  }
  // SwiGLU: project the row up, scale each number by its gate, project the result back down.
  function feedForward(row, layer) {
    const up = times(layer.up, row);
    return times(layer.down, times(layer.gate, row).map((gate, at) => gate / (1 + Math.exp(-gate)) * up[at]));
  }

  // Put one id into the cache, and return the logits of the token after it. `record(row, weights)` is called with the
  // token's row as it is looked up, and with that after each layer and the weights of each head's attention.
  function feed(id, record = () => {}) {
    if (!(id >= 0 && id < vocabulary)) throw new Error(`The model has ${vocabulary} tokens, and none is ${id}.`);
    if (filled >= context) throw new Error(`The model reads ${context} tokens, and no more.`);
    let row = embedding.slice(id * width, (id + 1) * width);
    record(row, []);
    for (const layer of layers) {
      const { added, weights } = attend(normalized(row, layer.attentionNorm), layer);
      row = row.map((number, at) => number + added[at]);
      const more = feedForward(normalized(row, layer.mlpNorm), layer);
      row = row.map((number, at) => number + more[at]);
      record(row, weights);
    }
    filled += 1;
    return times(head, normalized(row, lastNorm));
  }
  // Forget all but the first `count` tokens.
  const keep = (count) => { filled = Math.min(filled, count); };
  return { feed, keep, context };
}
