// Above, the text in its parts; then each worker with the tables that it keeps; below, the sum of those that were fetched.

function render(context) {
  return mount(context, "Counting on several machines", (data) => {
    const text = make("p", { class: "bl-parts", "aria-label": "the parts of the text" });
    const workers = div("bl-workers");
    const title = p("bl-small");
    const sum = p("bl-mono");

    function show(step) {
      const now = step ? data.steps[step - 1] : { states: data.parts.map(() => -1), alive: Array(data.workers).fill(true), added: 0 };
      const before = step > 1 ? data.steps[step - 2].states : data.parts.map(() => -1);
      text.replaceChildren(...data.parts.map((part, i) => {
        const state = now.states[i], [kind, where] = state === -1 ? ["", "waits"] : state === -2 ? ["bl-good", "added"]
          : ["bl-made", `table at worker ${state + 1}`];
        const here = state === before[i] || !step ? "" : " bl-here";
        return make("span", { class: `bl-part ${kind}${here}`, title: `part ${i + 1}: ${where}` }, part);
      }));
      workers.replaceChildren(...now.alive.map((there, worker) => {
        const kept = now.states.flatMap((state, i) => (state === worker ? [i + 1] : []));
        return div(`bl-worker ${there ? "" : "bl-gone"}`,
          make("strong", {}, `Worker ${worker + 1}`),
          small(there ? (kept.length ? `keeps the tables of parts ${kept.join(", ")}` : "keeps no table") : "lost"));
      }));
      title.textContent = now.added
        ? `The sum of ${now.added} of ${data.parts.length} tables: ${data.distinct[now.added]} pre-tokens, the most frequent`
        : "No table is added yet.";
      sum.replaceChildren(...data.totals[now.added].flatMap(([piece, count]) => [span("bl-chip", label(piece)), small(` ${count}  `)]));
      return told(data, step);
    }
    return { nodes: [text, workers, title, sum], count: data.steps.length, show, noun: "step" };
  });
}
