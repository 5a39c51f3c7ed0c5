// A process of one library: node --expose-gc worker.mjs NAME < JOBS. Without a name it lists the libraries.
//
// Jobs are lines of JSON. The first is what `open` is told (peers.mjs), and the others are {texts: FILE}, a list of
// strings to encode, a call each. Each is answered by a line: {cpu, wall, bytes, digest}, seconds of processor time, of
// all threads, and by the clock, the size of the texts and the SHA-256 of all their ids; or {error}.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

import { PEERS } from "./peers.mjs";

// What is put together at the first call is part of loading; some libraries wait for a rare word.
const FIRST_TEXT = "The first call is part of loading; some wait for a rare word, überhaupt xqzvwk. ".repeat(4);

async function timed(call) {
  globalThis.gc();
  const wall = performance.now(), cpu = process.cpuUsage();
  const result = await call();
  const { user, system } = process.cpuUsage(cpu);
  return { result, cpu: (user + system) / 1e6, wall: (performance.now() - wall) / 1e3 };
}

function digestOf(rows) {
  const hash = createHash("sha256");
  for (const ids of rows) hash.update(Uint32Array.from(ids));
  return hash.digest("hex");
}

async function serve(peer) {
  let encode = null;
  for await (const line of createInterface({ input: process.stdin })) {
    let answer;
    try {
      const job = JSON.parse(line);
      if (encode) {
        const texts = JSON.parse(await readFile(job.texts, "utf8"));
        const { result, ...times } = await timed(() => texts.map(encode));
        const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
        answer = { ...times, bytes, calls: texts.length, digest: digestOf(result) };
      } else {
        const { result, ...times } = await timed(async () => {
          const opened = await peer.open(job);
          opened(FIRST_TEXT);
          return opened;
        });
        encode = result;
        answer = times;
      }
    } catch (error) {
      answer = { error: `${error.name}: ${error.message}`.slice(0, 200) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

const name = process.argv[2];
if (name) await serve(PEERS.find((peer) => peer.name === name));
else console.log(JSON.stringify(PEERS.map(({ name: peer, part = 1 }) => ({ name: peer, part }))));
