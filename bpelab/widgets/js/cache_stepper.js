// The pieces in order: those found in the cache, those merged, and those still to come.

function render(context) {
  return mount(context, "The piece cache, piece by piece", (data) => {
    const boxes = data.pieces.map((piece, i) => make("span", { class: "bl-part", title: data.says[i] }, label(piece)));
    const row = make("p", { class: "bl-parts bl-mono" }, boxes.map((box) => [box, make("wbr")]));
    const share = make("p", { class: "bl-small" });

    function show(step) {
      boxes.forEach((box, i) => {
        box.className = `bl-part${i >= step ? "" : data.found[i] ? " bl-good" : " bl-missed"}${i === step - 1 ? " bl-here" : ""}`;
      });
      const found = data.found.slice(0, step).filter(Boolean).length;
      share.textContent = step ? `Found: ${Math.round((100 * found) / step)} % of the pieces so far.` : "Green: found. Dashed red: merged, and kept.";
      return step ? data.says[step - 1] : data.begin;
    }
    return { nodes: [row, share], count: data.pieces.length, show, noun: "piece", start: 0 };
  });
}

export default { render };
