// Libraries for tests/test_javascript_peers.py, in the place of tools/javascript_peers/peers.mjs: one that is right, and
// those that do what libraries should not.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

async function right({ ranks, package: path }) {
  const { Tokenizer } = await import(pathToFileURL(path));
  const tokenizer = await Tokenizer.fromFile(await readFile(ranks), ranks, { pattern: "cl100k" });
  return (text) => tokenizer.encode(text);
}

async function wrong(about) {
  const encode = await right(about);
  return (text) => Array.from(encode(text), (id, n) => (n === 10 ? id + 1 : id));
}

async function stuck(about) {
  const encode = await right(about);
  return (text) => { while (text.startsWith("aaaa")); return encode(text); };
}

async function ends(about) {
  const encode = await right(about);
  return (text) => (text.startsWith("aaaa") ? process.exit(3) : encode(text));
}

export const PEERS = [
  { name: "bpelab", open: right },
  { name: "half", open: right, part: 2 },
  { name: "wrong", open: wrong },
  { name: "stuck", open: stuck },
  { name: "ends", open: ends },
  { name: "refuses", open() { throw new RangeError("no such encoding"); } },
];
