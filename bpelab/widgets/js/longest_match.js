// The characters with the pieces taken so far over them, and below the piece that is looked up, with its verdict.

const LOOKS = {
  miss: ["bl-bad", "✗ no piece"], take: ["bl-good", "✓ taken"], lose: ["bl-bad", "✗ the word is lost"],
};

function render(context) {
  return mount(context, "The longest piece that fits", (data) => {
    const columns = makeColumns(data);
    const stage = scroller(columns, 124, "characters, pieces taken and the piece that is looked up");

    function show(step) {
      let taken = [];
      for (const { action, from, to, label: parts, id } of data.steps.slice(0, step)) {
        if (action === "lose") taken = taken.filter((piece) => piece.to <= from);
        const kind = action === "lose" ? "bl-bad" : "bl-made";
        if (action !== "miss") taken.push({ from, to, parts, below: id, kind, title: `${quote(parts)}, id ${id}` });
      }
      const current = step ? data.steps[step - 1] : null, last = taken.at(-1);
      if (last && last.kind === "bl-made") last.kind = "bl-good";
      drawSearch(stage, columns, "taken", taken, data.leaves, current && {
        from: current.from, to: current.to, y: 62, parts: current.label, title: quote(current.label), verdict: LOOKS[current.action],
      });
      return told(data, step);
    }
    return { nodes: [stage.box], count: data.steps.length, show, noun: "look" };
  });
}
