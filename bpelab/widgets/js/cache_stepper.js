// The pieces in order: those found in the cache, those merged, and those still to come.

function render(context) {
  return mount(context, "The piece cache, piece by piece", (data) => {
    const boxes = data.pieces.map((piece, i) => make("span", { class: "bl-part", title: data.says[i] }, label(piece)));
    const row = p("bl-parts bl-mono", boxes.map((box) => [box, make("wbr")]));
    const legend = p("bl-small", "Green: found. Orange: merged, and kept. Grey: still to come.");

    function show(step) {
      boxes.forEach((box, i) => {
        box.className = `bl-part${i >= step ? "" : data.found[i] ? " bl-good" : " bl-missed"}${i === step - 1 ? " bl-here" : ""}`;
      });
      return step ? data.says[step - 1] : data.begin;
    }
    return { nodes: [row, legend], count: data.pieces.length, show, noun: "piece" };
  });
}
