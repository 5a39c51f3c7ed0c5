// Published split patterns as tables, which the library in Python has compiled: patterns.json.
//
// All automata share one table from characters to joint classes; each has a map from these to classes of its own. No
// pattern is compiled here: one that isn't in the file is refused. Cost: 2 ms for the table of characters, once.

import { Refused } from "./refused.js";

const BLOCKS = 0x1100, PORTABLE_END = "(?![\\s\\S])";

export function fromBase64(text) {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// Numbers in base 128, the lowest digit first.
function* numbers(bytes) {
  for (let i = 0, value = 0, shift = 0; i < bytes.length; i++) {
    value |= (bytes[i] & 127) << shift;
    shift += 7;
    if (bytes[i] > 127) continue;
    yield value;
    value = shift = 0;
  }
}

export class Patterns {
  // `data`: the contents of patterns.json.
  constructor(data) { this.data = data; }

  // The joint classes: the block of 256 characters that each one is in, and the classes in each block.
  get joint() {
    if (this.expanded) return this.expanded;
    const stage1 = new Uint16Array(BLOCKS), blocks = [], seen = new Map(), block = new Uint8Array(256);
    const classes = numbers(fromBase64(this.data.classes));
    let at = 0;
    for (const length of numbers(fromBase64(this.data.lengths))) {
      const joint = classes.next().value, end = at + length;
      for (let begin = at; at < end; begin = at) {
        at = Math.min(end, (at | 255) + 1);
        block.fill(joint, begin & 255, ((at - 1) & 255) + 1);
        if (at & 255) continue;
        const key = at - begin === 256 ? joint : String.fromCharCode(...block); // most blocks are of one class
        if (!seen.has(key)) seen.set(key, blocks.push(block.slice()) - 1);
        stage1[at / 256 - 1] = seen.get(key);
      }
    }
    return this.expanded = { stage1, blocks };
  }

  // The table of automaton number `at`, as C takes it.
  table(at) {
    const { width, start, transitions, classes, rules } = this.data.automata[at], { stage1, blocks } = this.joint;
    const own = fromBase64(classes), stage2 = new Uint8Array(256 * blocks.length);
    blocks.forEach((block, n) => { for (let i = 0; i < 256; i++) stage2[256 * n + i] = own[block[i]]; });
    const steps = typeof transitions === "string" ? fromBase64(transitions) : transitions;
    return { width, start, stage1, stage2, rules, transitions: Int32Array.from(steps) };
  }

  // The automaton of a pattern: a name such as "cl100k", or a spelling in the dialect "rust" (tiktoken's engine), or
  // "oniguruma" (Hugging Face's). Refused if it is neither.
  find(pattern, dialect) {
    const { names, patterns } = this.data, known = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);
    const found = dialect === "rust" ? known(names, pattern) ?? known(patterns.rust, pattern)
      : known(patterns.oniguruma, pattern.replaceAll(PORTABLE_END, "\\z"));
    if (found !== undefined) return found;
    const shown = pattern.slice(0, 200);
    throw new Refused(`The split pattern ${shown} is none of the published ones, and only these are served.`);
  }
}
