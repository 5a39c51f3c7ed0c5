// The vocabularies that a box offers: those in its data, published ones at an address, and files of the reader's own.

const GGUF_HEADER = 1e8; // bytes: the vocabulary is at the beginning, weights follow
const IN_PAGE = "In this page", PUBLISHED = "Published, fetched when you ask", OWN = "Your files";

function makeVocabularies({ vocabularies, published }, service) {
  const all = [];
  let last = 0;
  function create({ title, group, ...more }) {
    const vocabulary = { key: last += 1, title, group, ready: null, names: new Map(), ...more };
    // Open it once: `given` is what TokenizerService takes. A Promise.
    vocabulary.open = (given) => vocabulary.ready ??= service.call("open", vocabulary.key, given)
      .then(({ specials }) => { vocabulary.names = new Map(specials.map(([name, id]) => [id, name])); })
      .catch((problem) => { vocabulary.ready = null; throw problem; });
    vocabulary.openFile = (bytes) => vocabulary.open({ file: { bytes, name: title, options: {} } });
    return vocabulary;
  }
  for (const trained of vocabularies) all.push(create({ title: trained.title, group: IN_PAGE, trained }));
  for (const [title, address] of published) all.push(create({ title, group: PUBLISHED, address }));
  return {
    all,
    // Whether a vocabulary can be used: it is in the page, was opened, or is kept by the browser; it is open then.
    async available({ trained, ready, address, open, openFile }) {
      const bytes = trained || ready ? null : await keptFile(address);
      if (trained) await open({ trained });
      else if (bytes) await openFile(bytes);
      else await ready;
      return Boolean(trained || bytes || ready);
    },
    async download({ address, openFile }, progress) { await openFile(await fetchFile(address, progress)); },
    // A file of the reader's own, opened.
    async addFile(file) {
      const vocabulary = create({ title: file.name, group: OWN });
      await vocabulary.openFile(new Uint8Array(await file.slice(0, GGUF_HEADER).arrayBuffer()));
      all.push(vocabulary);
      return vocabulary;
    },
  };
}
