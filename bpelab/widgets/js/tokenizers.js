// Tokenizers in a page: the library in JavaScript, whose parts library.py makes, here or in a worker.

let library = null; // what startLibrary made

const toBytes = (text) => new TextEncoder().encode(text), labelBytes = (bytes) => visible(bytes, library.look);

async function startLibrary({ library: make, core, patterns, looks }) {
  const resources = { core: Uint8Array.from(atob(core), (char) => char.charCodeAt(0)), patterns };
  const module = await WebAssembly.compile(resources.core), { TokenizerService } = make(resources);
  library = { make, resources, module, service: new TokenizerService(module, resources), look: makeLook(looks) };
}

// What a worker runs: it is called with [number, method, arguments], and answers [number, result, what went wrong].
function work(make) {
  let service = null;
  globalThis.onmessage = async ({ data: [number, method, given] }) => {
    try {
      if (method === "start") service = new (make(given[1]).TokenizerService)(...given);
      postMessage([number, method === "start" ? null : await service[method](...given)]);
    } catch (problem) {
      postMessage([number, null, problem.message]);
    }
  };
}

// TokenizerService in a worker of its own, so that the page stays fluid, or in the page where none may begin:
// `call(method, ...arguments)` is a Promise, `end()` lets go of both.
function makeTokenizerService() {
  const { make, resources, module, service } = library, waiting = new Map();
  const here = async (method, ...given) => service[method](...given);
  let worker = null, last = 0;
  function giveUp() { // what was asked of the worker is done here
    worker = null;
    for (const { method, given, resolve, reject } of waiting.values()) here(method, ...given).then(resolve, reject);
    waiting.clear();
  }
  function call(method, ...given) {
    if (!worker) return here(method, ...given);
    return new Promise((resolve, reject) => {
      waiting.set(last += 1, { method, given, resolve, reject });
      worker.postMessage([last, method, given]);
    });
  }
  try {
    const address = URL.createObjectURL(new Blob([`(${work})(${make});`], { type: "text/javascript" }));
    worker = new Worker(address);
    worker.onerror = giveUp;
    worker.onmessage = ({ data: [number, result, problem] }) => {
      const { resolve, reject } = waiting.get(number) ?? {};
      waiting.delete(number);
      if (problem === undefined) resolve?.(result); else reject?.(new Error(problem));
    };
    worker.postMessage([0, "start", [module, resources]]);
  } catch {
    giveUp();
  }
  return { call, end: () => worker?.terminate() };
}

// What a tokenizer is to a figure, in the page itself.
function inPage(tokenizer) {
  const names = new Map([...tokenizer.specialTokens].map(([name, id]) => [id, name]));
  return {
    encode: (text) => [...tokenizer.encode(text)],
    special: (id) => names.has(id),
    decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => [...tokenizer.bytesOf(id)]))),
    label: (id) => (names.has(id) ? [["", names.get(id)]] : labelBytes(tokenizer.bytesOf(id))),
  };
}
// The tokenizer of a figure's data.
const pageTokenizer = (data) => inPage(library.service.openTrained(data));
// The tokenizer of a reader's own file, a Promise. `pattern` splits the text where the file names none.
async function fileTokenizer(bytes, name, pattern) {
  const { service } = library;
  try {
    await service.open(name, { file: { bytes, name, options: {} } });
  } catch (problem) {
    if (!problem.message.includes("holds no pattern")) throw problem;
    await service.open(name, { file: { bytes, name, options: { pattern } } });
  }
  const tokenizer = service.tokenizers.get(name);
  service.close(name);
  return { title: name, ...inPage(tokenizer) };
}
