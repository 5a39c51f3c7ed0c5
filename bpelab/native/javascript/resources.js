// The files beside this one: C compiled to WebAssembly, and the tables of patterns. Node reads them, browsers fetch
// them.

const CORE = new URL("./bpelab.wasm", import.meta.url), PATTERNS = new URL("./patterns.json", import.meta.url);

async function read(url) {
  if (url.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return readFile(url);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} can't be fetched: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

// {core, patterns}: the bytes of the one, the contents of the other.
export async function readResources() {
  const [core, patterns] = await Promise.all([read(CORE), read(PATTERNS)]);
  return { core, patterns: JSON.parse(new TextDecoder().decode(patterns)) };
}
