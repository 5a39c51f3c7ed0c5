// Finds the figures of a page and gives each the data next to it, where a notebook would use a kernel.

function revive(holder) {
  const figure = figures[holder.dataset.figure];
  const data = holder.querySelector('script[type="application/json"]');
  if (!figure || !data || holder.classList.contains("bpelab-alive")) return;
  const state = { data: JSON.parse(data.textContent), text: "", live: false, error: "" };
  const model = {
    get: (name) => state[name], set: (name, value) => { state[name] = value; },
    on() {}, off() {}, save_changes() {}, send() {},
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
