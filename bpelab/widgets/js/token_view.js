// A text coloured by token, one panel for each tokenizer; the selected place in the text is marked in all of them.

function render(context) {
  return mount(context, "Tokens of a text", (data) => {
    const stops = [...new Set(data.panels.flatMap((panel) => panel.starts.slice(0, -1)))].sort((a, b) => a - b);
    let controls = null;

    const panels = data.panels.map((panel) => {
      const tokens = panel.ids.map((id, place) => {
        const go = (event) => controls.go(stops.indexOf(panel.starts[place]) + 1, event.type);
        return flowing({ class: `bl-token bl-hue${place % 4}`, click: go, mouseenter: go }, panel.tokens[id][0]);
      });
      const shared = new Map(); // token -> the characters that it shares with its neighbours
      const spans = tokens.map(({ box }) => box);
      const nodes = tokens.map((token) => token.nodes);
      for (const [first, last, characters] of [...panel.split].reverse()) {
        for (let place = first; place <= last; place++) shared.set(place, characters);
        const group = make("span", { class: "bl-split", title: `${characters}, spread over ${last - first + 1} tokens` },
          span("bl-whole", characters), nodes.slice(first, last + 1));
        nodes.splice(first, last - first + 1, group);
      }
      const flow = div("bl-flow bl-tall", nodes);
      const detail = p("bl-detail");
      const title = heading(panel.title, small(panel.summary));
      return { panel, flow, spans, shared, detail, node: make("div", {}, title, flow, detail) };
    });

    function show(step, by) {
      const place = step ? stops[step - 1] : -1;
      const says = panels.map(({ panel, flow, spans, shared, detail }) => {
        const found = panel.ids.findIndex((_, token) => panel.starts[token] <= place && place < panel.starts[token + 1]);
        spans.forEach((span, token) => span.classList.toggle("bl-here", token === found));
        detail.textContent = found < 0 ? " " : "";
        if (found < 0) return "";
        if (by !== "mouseenter") reveal(spans[found], flow);
        const [parts, bytes] = panel.tokens[panel.ids[found]];
        const end = panel.starts[found + 1] - 1;
        const where = end === panel.starts[found] ? `byte ${end}` : `bytes ${panel.starts[found]} to ${end}`;
        const part = shared.has(found) ? `, part of ${shared.get(found)}` : "";
        detail.append(make("strong", {}, `id ${panel.ids[found]}`), ` · ${where} · `, mono(bytes));
        return `${panel.title ? `${panel.title}: ` : ""}${quote(parts)}, id ${panel.ids[found]}${part}.`;
      });
      return step ? says.filter(Boolean).join(" ") : data.say;
    }
    return {
      nodes: [make("div", { class: data.panels.length > 1 ? "bl-two" : "" }, panels.map(({ node }) => node))],
      count: stops.length, show, noun: "token", playable: false, ready: (made) => { controls = made; },
    };
  });
}
