// Above, the text in its parts; then each worker with the tables that it keeps; below, the sum of those that were fetched.

function render(context) {
  return mount(context, "Counting on several machines", (data) => {
    const text = make("p", { class: "bl-parts", "aria-label": "the parts of the text" });
    const workers = make("div", { class: "bl-workers" });
    const title = make("p", { class: "bl-small" });
    const sum = make("p", { class: "bl-mono" });

    function show(step) {
      const now = step ? data.steps[step - 1] : { states: data.parts.map(() => -1), alive: Array(data.workers).fill(true), added: 0 };
      const before = step > 1 ? data.steps[step - 2].states : data.parts.map(() => -1);
      text.replaceChildren(...data.parts.map((part, i) => make("span", {
        class: `bl-part ${now.states[i] === -1 ? "" : now.states[i] === -2 ? "bl-good" : "bl-made"}${now.states[i] === before[i] || !step ? "" : " bl-here"}`,
        title: `part ${i + 1}: ${now.states[i] === -1 ? "waits" : now.states[i] === -2 ? "added" : `table at worker ${now.states[i] + 1}`}`,
      }, part)));
      workers.replaceChildren(...now.alive.map((there, worker) => {
        const kept = now.states.flatMap((state, i) => (state === worker ? [i + 1] : []));
        return make("div", { class: `bl-worker ${there ? "" : "bl-gone"}` },
          make("strong", {}, `Worker ${worker + 1}`),
          make("span", { class: "bl-small" }, there ? (kept.length ? `keeps the tables of parts ${kept.join(", ")}` : "keeps no table") : "lost"));
      }));
      title.textContent = now.added
        ? `The sum of ${now.added} of ${data.parts.length} tables: ${data.distinct[now.added]} pre-tokens, the most frequent`
        : "No table is added yet.";
      sum.replaceChildren(...data.totals[now.added].flatMap(([piece, count]) => [make("span", { class: "bl-chip" }, label(piece)), make("span", { class: "bl-small" }, ` ${count}  `)]));
      return step ? now.say : data.begin;
    }
    return { nodes: [text, workers, title, sum], count: data.steps.length, show, noun: "step" };
  });
}

export default { render };
