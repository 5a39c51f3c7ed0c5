// A stacked bar of operations for each tokenizer, the one chosen marked, and its numbers below.

function render(context) {
  return mount(context, "What a text costs", (data) => {
    const rows = data.rows.map((row) => stackedBar(row.cells[0], row.lengths.map((length, part) => make("span", {
      class: `bl-part${part}`, style: `width:${length}%`, title: data.parts[part],
    })), `${row.cells[1]} tokens`));
    const bars = make("div", { class: "bl-costs", role: "list", "aria-label": "operations for the text, by tokenizer" }, rows);
    const key = legend(data.parts.map((name, place) => swatch(`bl-part${place}`, name)));
    const numbers = make("tbody");
    const table = region("bl-scroll", "numbers",
      make("table", { class: "bl-table" }, numbers));

    function show(step) {
      if (!data.rows.length) return data.say;
      rows.forEach((row, place) => row.classList.toggle("bl-win", place === step));
      numbers.replaceChildren(...data.head.slice(1).map((name, place) => make("tr", {},
        make("td", {}, name), make("td", {}, data.rows[step].cells[place + 1]))));
      return data.rows[step].say;
    }
    return {
      nodes: data.rows.length ? [heading("Operations for the text"), bars, key, table] : [],
      count: Math.max(0, data.rows.length - 1), show, noun: "tokenizer",
    };
  });
}
