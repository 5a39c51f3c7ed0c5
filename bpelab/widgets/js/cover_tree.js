// A prompt that grows byte by byte: its covers as a tree, each with its share, and the next byte's probabilities.

function render(context) {
  return mount(context, "One byte at a time", (data) => {
    const start = p("bl-flow"), covers = div("bl-bars bl-covers"), next = div("bl-bars");
    const named = (parts) => parts.map(([kind, text]) => span(`bl-${kind}`, label(text)));
    const bars = (rows) => rows.map(([parts, ...bar]) => div("bl-bar", barOf(named(parts), ...bar)));

    function show(step) {
      const now = data.steps[step];
      start.replaceChildren(...named(now.prompt));
      covers.replaceChildren(...bars(now.covers));
      next.replaceChildren(...bars(now.next));
      return now.say;
    }
    const count = data.steps.length - 1;
    return { nodes: [start, div("bl-two", part("Covers", covers), part("Next byte", next))], count, show, start: count, noun: "byte" };
  });
}
