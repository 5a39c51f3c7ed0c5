// Finds the figures of a page and gives each the data next to it, and a model where a notebook has a kernel.

const BESIDE = document.currentScript?.src; // where this script is: what it loads later is next to it

// A value that a script beside this one leaves in `name`, as a Promise. It is loaded when it is first asked for, as a
// script, since pages opened from a disk may fetch nothing else.
function loader(file, name, convert, complaint) {
  let loading = null;
  return () => loading ??= new Promise((resolve, reject) => {
    const fail = () => { loading = null; reject(new Error(complaint)); };
    if (!BESIDE) return fail();
    const arrive = () => {
      resolve(convert(globalThis[name]));
      delete globalThis[name]; // megabytes
    };
    document.head.append(make("script", { src: new URL(file, BESIDE), load: arrive, error: fail }));
  });
}
// The weights of the model that comes with bpelab, as bytes.
const loadWeights = loader(WEIGHTS, "bpelabWeights", (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0)),
  "The model's weights can't be loaded from beside this page.");
const loadLibrary = loader(LIBRARY, "bpelabLibrary", startLibrary, "The tokenizers can't be loaded from beside this page.");

async function revive(holder) {
  const name = holder.dataset.figure, figure = figures[name];
  const data = holder.querySelector('script[type="application/json"]');
  if (!figure || !data || holder.classList.contains("bpelab-alive")) return;
  const el = div("bpelab-live");
  try {
    if (TOKENIZING.includes(name)) await loadLibrary();
    const model = { ...pageModel(name, JSON.parse(data.textContent), loadLibrary), loadWeights };
    holder.append(el);
    holder.classList.add("bpelab-alive"); // hides the still, except on paper
    figure.render({ model, el });
  } catch (problem) {
    holder.classList.remove("bpelab-alive");
    el.remove();
    console.error(problem); // the still stays
  }
}

function reviveAll() {
  document.querySelectorAll(".bpelab-figure").forEach(revive);
}
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", reviveAll);
else reviveAll();
