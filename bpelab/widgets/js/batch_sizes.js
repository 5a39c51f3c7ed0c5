// For the batch size chosen: the texts a second for each number of threads, and how long the first text waits.

function render(context) {
  return mount(context, "Batch size and threads", (data) => {
    const group = (head, parts) => {
      const bars = data.names.map((name) => {
        const lengths = parts.map((part) => span(`bl-part${part}`));
        const node = stackedBar(name, lengths, "");
        return { node, set(sizes, text) {
          lengths.forEach((length, part) => { length.style.width = `${sizes[part]}%`; });
          node.lastChild.textContent = text;
        } };
      });
      const list = make("div", { class: "bl-costs", role: "list", "aria-label": head }, bars.map(({ node }) => node));
      return { bars, nodes: [heading(head), list] };
    };
    const rates = group(data.heads[0], [2]), waits = group(data.heads[1], [3, 0]);
    const key = legend(data.parts.map((name, place) => swatch(`bl-part${place ? 0 : 3}`, name)));

    function show(step) {
      const { rates: fast, waits: long, labels } = data.steps[step];
      rates.bars.forEach((bar, row) => bar.set([fast[row]], labels[0][row]));
      waits.bars.forEach((bar, row) => bar.set(long[row], labels[1][row]));
      return data.says[step];
    }
    return { nodes: [rates.nodes, waits.nodes, key].flat(), count: data.steps.length - 1, show, noun: "batch size", playable: false };
  }, () => null);
}
