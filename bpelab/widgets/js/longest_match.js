// The characters with the pieces taken so far over them, and below the piece that is looked up, with its verdict.

const LOOKS = {
  miss: ["bl-bad", "✗ no piece"], take: ["bl-good", "✓ taken"], lose: ["bl-bad", "✗ the word is lost"],
};

function render(context) {
  return mount(context, "The longest piece that fits", (data) => {
    const columns = makeColumns(data);
    const { svg, box } = scroller(columns, 124, "characters, pieces taken and the piece that is looked up");

    function show(step) {
      let taken = [];
      for (const { action, from, to, label, id } of data.steps.slice(0, step)) {
        if (action === "lose") taken = taken.filter((piece) => piece.to <= from);
        if (action !== "miss") taken.push({ from, to, parts: label, id, lost: action === "lose" });
      }
      const current = step ? data.steps[step - 1] : null;
      const reached = taken.length ? taken[taken.length - 1].to : 0;
      svg.replaceChildren(draw("text", { class: "bl-lane", x: 3, y: 13 }, "taken"));
      for (const { from, to, parts, id, lost } of taken)
        svg.append(tokenBox(columns, {
          from, to, y: 20, parts, below: id, kind: lost ? "bl-bad" : to === reached ? "bl-good" : "bl-made",
          title: `${quote(parts)}, id ${id}`,
        }));
      data.leaves.slice(reached).forEach((parts, place) => svg.append(tokenBox(columns, {
        from: reached + place, to: reached + place + 1, y: 20, parts, kind: "bl-rest",
      })));
      if (current) {
        const [kind, verdict] = LOOKS[current.action];
        const x = Math.max(60, Math.min(columns.width - 60, (columns.left(current.from) + columns.right(current.to)) / 2));
        svg.append(tokenBox(columns, {
          from: current.from, to: current.to, y: 62, parts: current.label, kind, title: quote(current.label),
        }), draw("text", { class: `bl-verdict ${kind}`, x, y: 114 }, verdict));
        reveal(svg.querySelector(".bl-verdict"), box);
      }
      return step === 0 ? data.begin : data.steps[step - 1].say;
    }
    return { nodes: [box], count: data.steps.length, show, noun: "look" };
  });
}

export default { render };
