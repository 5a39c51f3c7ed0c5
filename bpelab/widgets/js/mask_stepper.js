// A block as columns, one for each character; below it a row of bits for each class, then one for each rule.

function render(context) {
  return mount(context, "Masks, and the pieces that they cut", (data) => {
    const cells = (kind, items) => items.map((item) => make("td", { class: kind }, item));
    const head = make("tr", { class: "bl-masked" }, make("th", { scope: "row" }, "text"), cells("bl-mono", data.chars.map((char) => label(char))));
    const rows = data.rows.map((row) => make("tr", { title: row.say },
      make("th", { scope: "row" }, row.name),
      [...row.bits].map((bit) => make("td", { class: bit === "1" ? (row.starts ? "bl-start" : "bl-set") : "" }, bit === "1" ? "1" : ""))));
    const table = make("table", { class: "bl-masks" }, head, rows);
    const box = div("bl-scroll", table);
    const pieces = p("bl-parts bl-mono",
      data.pieces.map((piece) => [span("bl-part bl-good", label(piece)), make("wbr")]));
    const last = data.rows.length + 1;

    function show(step) {
      const bits = step && step < last ? data.rows[step - 1] : step ? data.rows.at(-1) : null;
      rows.forEach((row, i) => {
        row.hidden = i >= step;
        row.classList.toggle("bl-here", i === step - 1);
      });
      [...head.children].slice(1).forEach((cell, i) => cell.classList.toggle("bl-start", Boolean(bits && bits.starts && bits.bits[i] === "1")));
      pieces.hidden = step < last;
      return step === 0 ? data.begin : step < last ? data.rows[step - 1].say : data.say;
    }
    return { nodes: data.rows.length ? [box, pieces] : [], count: data.rows.length ? last : 0, show };
  });
}
