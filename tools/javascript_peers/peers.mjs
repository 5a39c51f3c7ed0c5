// The libraries to measure, in the order of the table, each with the code that opens it and encodes in its fastest way,
// for text in which no special token is looked for.
//
// `open` is told {encoding: "cl100k_base", ranks: a .tiktoken file, folder: of its tokenizer.json, package: bpelab.js}.
// `part`: a library that is too slow for all of each text encodes 1 / `part` of it.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const NO_SPECIAL_TOKENS = { disallowedSpecial: new Set() };

export const PEERS = [
  {
    name: "bpelab",
    async open({ ranks, package: path }) {
      const { Tokenizer } = await import(pathToFileURL(path));
      const tokenizer = await Tokenizer.fromFile(await readFile(ranks), ranks);
      return (text) => tokenizer.encode(text);
    },
  },
  {
    name: "gpt-tokenizer",
    async open({ encoding }) {
      const { encode } = await import(`gpt-tokenizer/encoding/${encoding}`);
      return (text) => encode(text, NO_SPECIAL_TOKENS);
    },
  },
  {
    name: "ai-tokenizer",
    async open({ encoding }) {
      const [{ Tokenizer }, ranks] = [await import("ai-tokenizer"), await import(`ai-tokenizer/encoding/${encoding}`)];
      const tokenizer = new Tokenizer(ranks);
      return (text) => tokenizer.encode(text);
    },
  },
  {
    name: "tiktoken",
    async open({ encoding }) {
      const { get_encoding: getEncoding } = await import("tiktoken");
      const tokenizer = getEncoding(encoding);
      return (text) => tokenizer.encode_ordinary(text);
    },
  },
  {
    name: "js-tiktoken",
    part: 10,
    async open({ encoding }) {
      const [{ Tiktoken }, ranks] = [await import("js-tiktoken/lite"), await import(`js-tiktoken/ranks/${encoding}`)];
      const tokenizer = new Tiktoken(ranks.default);
      return (text) => tokenizer.encode(text, [], []);
    },
  },
  {
    name: "@huggingface/tokenizers",
    part: 10,
    async open({ folder }) {
      const { Tokenizer } = await import("@huggingface/tokenizers");
      const tokenizer = new Tokenizer(JSON.parse(await readFile(`${folder}/plain.json`, "utf8")), {});
      return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids;
    },
  },
];
