// A conversation: who wrote which part of its text, and its tokens, ours beside the naive ones.

function render(context) {
  return mount(context, "A conversation, its template and its tokens", (data) => {
    let controls = null;
    const [ours, naive] = data.panels;
    const colour = (segment) => (segment.hue === null ? "bl-gap" : `bl-hue${segment.hue}`);
    const stepTo = (place) => (event) => controls.go(ours.tokens.findIndex(([, start, end]) => start <= place && place < end) + 1, event.type);

    const written = data.segments.map((segment) => flowing({
      class: `bl-token ${colour(segment)}`, title: segment.by, click: stepTo(segment.start),
    }, segment.parts));
    const text = div("bl-flow bl-tall", written.map(({ nodes }) => nodes));
    const speakers = [...new Map(data.segments.map((segment) => [segment.by, segment])).values()];
    const item = (mark, ...words) => make("li", {}, mark, make("span", {}, ...words));
    const whoWrote = legend(speakers.map((segment) => swatch(colour(segment), segment.by)));

    const panels = data.panels.map((panel) => {
      const boxes = panel.tokens.map(([id, start, , control, mark]) => {
        const marks = ["bl-token", panel === naive && mark ? "bl-forged" : control ? "bl-control" : "", panel === ours && mark ? "bl-said" : ""];
        const go = stepTo(start);
        const name = control ? idOf(id) : null;
        return flowing({ class: marks.filter(Boolean).join(" "), click: go, mouseenter: go }, data.tokens[id], [label(data.tokens[id]), name]);
      });
      const flow = div("bl-flow bl-tall", boxes.map(({ nodes }) => nodes));
      const title = heading(plural(panel.tokens.length, "token"), small(panel.title));
      return { panel, flow, spans: boxes.map(({ box }) => box), node: make("div", {}, title, flow) };
    });
    const key = legend(
      item(span("bl-token bl-control", "a", idOf("1")), "control token, with its id"),
      item(span("bl-token bl-said", "a"), "said by the assistant"),
      item(span("bl-token bl-forged", "a"), "control token that a message forged"));

    function show(step, by) {
      const [, first, last] = step ? ours.tokens[step - 1] : [0, -1, -1];
      written.forEach(({ box }, place) => {
        const here = data.segments[place].start < last && first < data.segments[place].end;
        box.classList.toggle("bl-here", here);
        if (here && by !== "mouseenter") reveal(box, text);
      });
      const found = panels.map(({ panel, flow, spans }) => {
        const here = panel.tokens.map(([, start, end], place) => (panel === ours ? place === step - 1 : start < last && first < end));
        spans.forEach((span, place) => span.classList.toggle("bl-here", here[place]));
        if (by !== "mouseenter") reveal(spans[here.indexOf(true)], flow);
        return panel.tokens.filter((_, place) => here[place]);
      });
      if (!step) return data.say;
      const [id, , , control, said] = ours.tokens[step - 1];
      const from = data.segments.filter((segment) => segment.start < last && first < segment.end).map((segment) => segment.by);
      const forged = found[1].filter((token) => token[4]).map(([other]) => `${quote(data.tokens[other])}, id ${other}`);
      return `${quote(data.tokens[id])}, id ${id}: ${control ? "a control token" : "text"} from the ${[...new Set(from)].join(" and the ")}. `
        + `${said ? "The assistant said it. " : ""}${forged.length ? `Naively it belongs to the control token ${forged[0]}.` : ""}`;
    }
    return {
      nodes: [heading("Who wrote what"), text, whoWrote,
        div("bl-two", panels.map(({ node }) => node)), key],
      count: ours.tokens.length, show, noun: "token", playable: false, ready: (made) => { controls = made; },
    };
  });
}
