// Safetensors in a page: a header in JSON that says where each tensor lies, and then their numbers. Read as
// chat/models/tensor_headers.py and chat/backends/llama_weights.py read it, into float32. Cost: one pass over the file.

// The tensors of a safetensors file, in float32: name -> {shape, numbers}.
function readSafetensors(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), lead = 8;
  const size = bytes.length < lead ? Infinity : Number(view.getBigUint64(0, true));
  if (size > bytes.length - lead) throw new Error("The weights are not a safetensors file, or a part of one.");
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(lead, lead + size)));
  const tensors = new Map();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets: [from, to] } = entry;
    const count = shape.reduce((product, side) => product * side, 1), kind = STORED[dtype];
    if (!kind) throw new Error(`The tensor ${name} is ${dtype}, and only ${Object.keys(STORED).join(", ")} are read.`);
    if (to - from !== count * kind.size || lead + size + to > bytes.length) {
      throw new Error(`The tensor ${name} should have ${count} numbers, and the file holds others.`);
    }
    const numbers = new Float32Array(count);
    for (let at = 0; at < count; at++) numbers[at] = kind.read(view, lead + size + from + at * kind.size);
    tensors.set(name, { shape, numbers });
  }
  return tensors;
}

const STORED = {
  F32: { size: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { size: 2, read: (view, at) => half(view.getUint16(at, true)) },
  BF16: { size: 2, read: (view, at) => upperHalf(view.getUint16(at, true)) },
};

// A float16: one bit of sign, five of exponent, ten of fraction.
function half(bits) {
  const exponent = (bits >> 10) & 31, fraction = (bits & 1023) / 1024, sign = bits >> 15 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction) * 2 ** (exponent - 15) : fraction * 2 ** -14);
}

// A bfloat16 is the upper half of a float32.
function upperHalf(bits) {
  const word = new DataView(new ArrayBuffer(4));
  word.setUint32(0, bits * 65536);
  return word.getFloat32(0);
}
