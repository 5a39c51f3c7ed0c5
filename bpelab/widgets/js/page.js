// Finds the figures of a page and gives each the data next to it, where a notebook would use a kernel.

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
  if (TOKENIZING.includes(name)) {
    try {
      await loadLibrary();
    } catch (problem) {
      console.error(problem); // the still stays
      return;
    }
  }
  const state = { data: JSON.parse(data.textContent), text: "", live: false, error: "" };
  const model = {
    get: (name) => state[name], set: (name, value) => { state[name] = value; },
    on() {}, off() {}, save_changes() {}, send() {}, loadWeights,
  };
  const el = document.createElement("div");
  el.className = "bpelab-live";
  holder.append(el);
  holder.classList.add("bpelab-alive"); // hides the still, except on paper
  try {
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
