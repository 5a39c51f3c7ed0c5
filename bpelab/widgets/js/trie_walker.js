// The bytes with the tokens accepted so far over them, the candidate below with its verdict, and dead ends crossed out.

const VERDICTS = {
  match: ["bl-looked", "longest that fits"], shorter: ["bl-looked", "next shorter"], accept: ["bl-good", "✓ accepted"],
  reject: ["bl-bad", "✗ rejected"], back: ["bl-bad", "↶ taken back"],
};

function render(context) {
  return mount(context, "Longest match that steps back", (data) => {
    const columns = makeColumns(data);
    const { svg, box } = scroller(columns, 148, "bytes, accepted tokens and the candidate");
    const middle = (from, to) => (columns.left(from) + columns.right(to)) / 2;

    function show(step) {
      const accepted = [], dead = new Set();
      for (const { action, position, token } of data.steps.slice(0, step)) {
        const end = position + data.lengths[token];
        if (action === "accept") accepted.push({ token, from: position, to: end });
        if (action === "back") { accepted.pop(); dead.add(end); }
      }
      const current = step ? data.steps[step - 1] : null;
      const reached = accepted.length ? accepted[accepted.length - 1].to : 0;
      svg.replaceChildren(draw("text", { class: "bl-lane", x: 3, y: 13 }, "accepted"));
      for (const { token, from, to } of accepted)
        svg.append(tokenBox(columns, {
          from, to, y: 20, parts: data.labels[token], below: token,
          kind: current && current.action === "accept" && to === reached ? "bl-good" : "bl-made",
          title: `${quote(data.labels[token])}, id ${token}, bytes ${from} to ${to - 1}`,
        }));
      data.leaves.slice(reached).forEach((leaf, place) => svg.append(tokenBox(columns, {
        from: reached + place, to: reached + place + 1, y: 20, parts: data.labels[leaf], kind: "bl-rest",
      })));
      for (const place of dead) {
        const x = place < data.leaves.length ? columns.left(place) : columns.right(place);
        svg.append(draw("g", { class: "bl-dead" }, draw("path", { d: `M${x} 55V62` }),
          draw("text", { x, y: 74 }, "✗"), draw("title", {}, `byte ${place} is a dead end`)));
      }
      if (current) {
        const [kind, verdict] = VERDICTS[current.action];
        const from = current.position, to = from + data.lengths[current.token];
        const x = Math.max(60, Math.min(columns.width - 60, middle(from, to)));
        svg.append(tokenBox(columns, {
          from, to, y: 82, parts: data.labels[current.token], below: current.token, kind,
          title: `${quote(data.labels[current.token])}, id ${current.token}`,
        }), draw("text", { class: `bl-verdict ${kind}`, x, y: 136 }, verdict));
        reveal(svg.querySelector(".bl-verdict"), box);
      }
      return step === 0 ? data.begin : data.steps[step - 1].say;
    }
    return { nodes: [box], count: data.steps.length, show, noun: "look" };
  });
}

export default { render };
