// Verdicts on claims, filtered by verdict and by topic. ARIA roles keep it a table when it is laid out as cards.

function render(context) {
  return mount(context, "Claims and verdicts", (data) => {
    const chosen = { verdict: "", topic: "" };
    let controls = null;
    const strip = (conditions) => make("span", { class: "bl-strip", "aria-hidden": "true" },
      conditions.map(([name, share]) => make("span", { title: name, style: `left:${share}%` })));
    const cell = (name, ...children) => make("td", { role: "cell", "data-head": name }, children);
    const rows = data.rows.map((row) => make("tr", { role: "row" },
      cell("", make("strong", { class: `bl-judged bl-is-${row.verdict}` }, row.verdict),
        strip(row.conditions), small(`right in ${row.share}`)),
      cell("", row.link ? make("a", { href: row.link }, row.claim) : row.claim,
        small(row.code ? ["Against it: ", mono(row.remark)] : row.remark)),
      cell(row.harm && "Harm", row.harm),
      cell(row.instead && "Instead", row.instead)));
    const head = make("tr", { role: "row" }, data.head.map((name) => make("th", { role: "columnheader" }, name)));
    const table = make("div", { class: "bl-claims" }, make("table", { class: "bl-table", role: "table" },
      make("thead", { role: "rowgroup" }, head), make("tbody", { role: "rowgroup" }, rows)));

    function filter(kind, counts) {
      const all = { "": data.rows.length, ...counts };
      const buttons = Object.entries(all).map(([name, count]) => button([name || "all", faint(` ${count}`)], (event) => {
        chosen[kind] = name;
        for (const other of buttons) other.setAttribute("aria-pressed", other === event.currentTarget);
        controls.go(0);
      }, { "aria-pressed": String(name === "") }));
      return make("div", { class: "bl-filter", role: "group", "aria-label": `which ${kind}` },
        small(kind), buttons);
    }
    function show() {
      data.rows.forEach((row, place) => {
        rows[place].hidden = Object.keys(chosen).some((kind) => chosen[kind] && chosen[kind] !== row[kind]);
      });
      const shown = rows.filter((row) => !row.hidden).length;
      return shown === rows.length ? data.say : `${shown} of ${plural(rows.length, "claim")} shown.`;
    }
    const filters = [filter("verdict", data.verdicts)];
    if (Object.keys(data.topics).length) filters.push(filter("topic", data.topics));
    return { nodes: [...filters, table], count: 0, show, ready: (own) => { controls = own; } };
  }, () => null);
}
