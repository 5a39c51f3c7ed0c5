// A stacked bar of operations for each tokenizer, the one chosen marked, and its numbers below.

function render(context) {
  return mount(context, "What a text costs", (data) => {
    const rows = data.rows.map((row) => make("div", { class: "bl-bar", role: "listitem" },
      make("span", { class: "bl-pair" }, row.cells[0]),
      make("span", { class: "bl-stack" }, row.lengths.map((length, part) => make("span", {
        class: `bl-part${part}`, style: `width:${length}%`, title: data.parts[part],
      }))),
      make("span", { class: "bl-number" }, `${row.cells[1]} tokens`)));
    const bars = make("div", { class: "bl-costs", role: "list", "aria-label": "operations for the text, by tokenizer" }, rows);
    const legend = make("ul", { class: "bl-legend bl-inline" }, data.parts.map((part, place) => make("li", {},
      make("span", { class: `bl-swatch bl-part${place}` }), part)));
    const numbers = make("tbody");
    const table = make("div", { class: "bl-scroll", role: "region", "aria-label": "numbers", tabindex: 0 },
      make("table", { class: "bl-table" }, numbers));

    function show(step) {
      if (!data.rows.length) return data.say;
      rows.forEach((row, place) => row.classList.toggle("bl-win", place === step));
      numbers.replaceChildren(...data.head.slice(1).map((name, place) => make("tr", {},
        make("td", {}, name), make("td", {}, data.rows[step].cells[place + 1]))));
      return data.rows[step].say;
    }
    const head = (text) => make("p", { class: "bl-head" }, text);
    return {
      nodes: data.rows.length ? [head("Operations for the text"), bars, legend, table] : [],
      count: Math.max(0, data.rows.length - 1), show, noun: "tokenizer",
    };
  });
}

export default { render };
