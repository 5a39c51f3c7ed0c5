// The bytes with the tokens accepted so far over them, the candidate below with its verdict, and dead ends crossed out.

const VERDICTS = {
  match: ["bl-looked", "longest that fits"], shorter: ["bl-looked", "next shorter"], accept: ["bl-good", "✓ accepted"],
  reject: ["bl-bad", "✗ rejected"], back: ["bl-bad", "↶ taken back"],
};

function render(context) {
  return mount(context, "Longest match that steps back", (data) => {
    const columns = makeColumns(data);
    const stage = scroller(columns, 148, "bytes, accepted tokens and the candidate");
    const named = (token) => `${quote(data.labels[token])}, id ${token}`, parts = (token) => data.labels[token];

    function show(step) {
      const accepted = [], dead = new Set();
      for (const { action, position, token } of data.steps.slice(0, step)) {
        const end = position + data.lengths[token];
        if (action === "accept") accepted.push({ token, from: position, to: end });
        if (action === "back") { accepted.pop(); dead.add(end); }
      }
      const current = step ? data.steps[step - 1] : null;
      const taken = accepted.map(({ token, from, to }, n) => ({
        from, to, parts: parts(token), below: token, title: `${named(token)}, bytes ${from} to ${to - 1}`,
        kind: current.action === "accept" && n === accepted.length - 1 ? "bl-good" : "bl-made",
      }));
      drawSearch(stage, columns, "accepted", taken, data.leaves.map(parts), current && {
        from: current.position, to: current.position + data.lengths[current.token], y: 82, parts: parts(current.token),
        below: current.token, title: named(current.token), verdict: VERDICTS[current.action],
      });
      for (const place of dead) {
        const x = place < data.leaves.length ? columns.left(place) : columns.right(place);
        stage.svg.append(draw("g", { class: "bl-dead" }, draw("path", { d: `M${x} 55V62` }),
          draw("text", { x, y: 74 }, "✗"), draw("title", {}, `byte ${place} is a dead end`)));
      }
      return told(data, step);
    }
    return { nodes: [stage.box], count: data.steps.length, show, noun: "look" };
  });
}
