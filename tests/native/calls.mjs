// What the library in JavaScript says about files and texts, for test_javascript.py: node calls.mjs FOLDER < JOBS
//
// FOLDER has bpelab.js. Jobs are JSON, a line each: {path, options, method, allowed, texts: [...] or lists of ids}; so
// are the answers: {results: [...]}, or {refused: message, kind: the error's name}. Ids of a text in a file,
// {file: path}, are answered by their SHA-256.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { Tokenizer } = await import(pathToFileURL(`${process.argv[2]}/bpelab.js`));
const opened = new Map();

async function open(path, options = {}) {
  const key = JSON.stringify([path, options]);
  if (!opened.has(key)) {
    opened.clear(); // large ones don't fit beside each other
    opened.set(key, await Tokenizer.fromFile(readFileSync(path), path.split("/").pop(), options));
  }
  return opened.get(key);
}

function answer(tokenizer, { method, allowed }, given) {
  if (given?.file) {
    const ids = tokenizer[method](readFileSync(given.file, "utf8"));
    return createHash("sha256").update(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength)).digest("hex");
  }
  if (method === "tokens") {
    return tokenizer.tokens(given).map(({ id, bytes }) => [id, Buffer.from(bytes).toString("hex")]);
  }
  if (method === "encode" || method === "count") {
    const result = tokenizer[method](given, allowed === undefined ? undefined : { allowedSpecial: allowed });
    return method === "encode" ? [...result] : result;
  }
  return tokenizer[method](given);
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  let said;
  try {
    const tokenizer = await open(job.path, job.options);
    said = { results: job.texts.map((given) => answer(tokenizer, job, given)) };
  } catch (error) {
    said = { refused: error.message, kind: error.name };
  }
  console.log(JSON.stringify(said));
}
