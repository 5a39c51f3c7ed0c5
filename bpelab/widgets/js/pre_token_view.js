// The pieces of a text under several patterns, coloured by alternative; a mark shows where only some of them cut.

function render(context) {
  return mount(context, "Pieces of a text under several patterns", (data) => {
    const differ = new Set(data.differ);
    const several = data.panels.length > 1;
    const stops = [...new Set(data.panels.flatMap((panel) => panel.pieces.map((piece) => piece.start)))].sort((a, b) => a - b);
    let controls = null;

    const panels = data.panels.map((panel) => {
      const spans = panel.pieces.map((piece) => {
        const extra = several && differ.has(piece.start);
        const hue = piece.alternative === null ? "bl-gap" : `bl-hue${piece.alternative % 9}`;
        const go = (event) => controls.go(stops.indexOf(piece.start) + 1, event.type);
        // A place where only the others cut splits a piece into segments, which stay together in one box.
        const missing = () => make("span", { class: "bl-nocut", title: `${panel.title} does not cut here` });
        const children = piece.segments.flatMap((parts, place) => label(parts).map((node, at) => [place && !at ? missing() : null, node]));
        const { box, nodes } = flowing({ class: `bl-token ${hue}`, click: go, mouseenter: go }, piece.segments.flat(), children);
        return { box, nodes: [extra ? make("span", { class: "bl-cut", title: `${panel.title} cuts here` }) : null, nodes] };
      });
      const flow = div("bl-flow bl-tall", spans.map(({ nodes }) => nodes));
      const legend = make("ul", { class: "bl-legend" }, panel.alternatives.map((choice, place) => choice.count
        ? swatch(`bl-hue${place % 9}`, make("span", {},
          choice.words || "this alternative", small(`, ${plural(choice.count, "piece")}`),
          make("code", {}, choice.regex.split(" ").flatMap((part, at) => (at ? [span("bl-s", "·"), part] : [part])))))
        : null));
      const title = heading(`${panel.title}: ${plural(panel.pieces.length, "piece")}`);
      return { panel, flow, spans: spans.map(({ box }) => box), node: make("div", {}, title, flow, legend) };
    });

    function show(step, by) {
      const place = step ? stops[step - 1] : -1;
      const says = panels.map(({ panel, flow, spans }) => {
        const found = panel.pieces.findIndex((piece) => piece.start <= place && place < piece.end);
        spans.forEach((span, index) => span.classList.toggle("bl-here", index === found));
        if (found < 0) return "";
        if (by !== "mouseenter") reveal(spans[found], flow);
        const piece = panel.pieces[found];
        const choice = panel.alternatives[piece.alternative];
        const why = choice ? `alternative ${piece.alternative + 1}${choice.words ? `, ${choice.words}` : ""}` : "between two matches";
        return `${panel.title}: ${quote(piece.segments.flat())}, ${why}.`;
      });
      if (!step) return data.say;
      return `${several && differ.has(place) ? "The cuts differ here. " : ""}${says.join(" ")}`;
    }
    return {
      nodes: [div("bl-two", panels.map(({ node }) => node)),
        several && data.differ.length ? p("bl-small", span("bl-cut"), " a cut that not all make   ",
          span("bl-nocut"), " the place where it is missing") : ""],
      count: stops.length, show, noun: "piece", playable: false, ready: (made) => { controls = made; },
    };
  });
}
