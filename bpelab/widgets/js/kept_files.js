// Files that the browser keeps for the next visit, by the address they came from. Where it keeps none, nothing is said:
// the file is fetched again.

function inKeptFiles(mode, use) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("bpelab", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("files");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction("files", mode), asked = use(transaction.objectStore("files"));
      const end = (settle, value) => { opening.result.close(); settle(value); };
      transaction.oncomplete = () => end(resolve, asked.result);
      transaction.onabort = () => end(reject, transaction.error);
    };
  });
}

const keptFile = (address) => inKeptFiles("readonly", (files) => files.get(address)).catch(() => undefined);
const keepFile = (address, bytes) => inKeptFiles("readwrite", (files) => files.put(bytes, address)).catch(() => undefined);

// The bytes at an address, after which the browser keeps them. `progress` is called with the bytes that have arrived.
async function fetchFile(address, progress) {
  const response = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer" });
  if (!response.ok) throw new Error(`the server says ${response.status} ${response.statusText}`.trim());
  const parts = [], reader = response.body.getReader();
  let size = 0;
  for (let part; !(part = await reader.read()).done;) {
    parts.push(part.value);
    progress(size += part.value.length);
  }
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  await keepFile(address, bytes);
  return bytes;
}
