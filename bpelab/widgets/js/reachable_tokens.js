// Each token above the two that it is made of. The added list's tokens appear one by one: filled ones are reached by
// merging their own bytes, hollow ones are not.

function render(context) {
  return mount(context, "Which tokens a list of merges reaches", (data) => {
    const high = 52, gap = 12, own = new Set(data.own);
    const names = data.labels.map(labelText);
    const wide = names.map((name) => Math.max(26, 9 * name.length + 14));
    const rows = [];
    data.levels.forEach((level, node) => (rows[level] = rows[level] || []).push(node));
    const length = (row) => row.reduce((sum, node) => sum + wide[node] + gap, -gap);
    const width = Math.max(280, ...rows.map(length)) + 8, height = Math.max(1, rows.length) * high;
    const middle = [];
    // A token is near the middle of its parts; a second pass puts bytes below the tokens made of them.
    const place = (row, want) => {
      const sorted = [...row].sort((a, b) => want(a) - want(b) || a - b);
      let x = (width - length(row)) / 2;
      for (const node of sorted) { middle[node] = x + wide[node] / 2; x += wide[node] + gap; }
    };
    const mean = (nodes, otherwise) => (nodes.length ? nodes.reduce((sum, node) => sum + middle[node], 0) / nodes.length : otherwise);
    const users = data.parts.map((_, node) => data.parts.flatMap((pair, user) => (pair.includes(node) ? [user] : [])));
    rows.forEach((row, level) => place(row, (node) => (level ? mean(data.parts[node], 0) : node)));
    if (rows.length) place(rows[0], (node) => mean(users[node], middle[node]));
    rows.slice(1).forEach((row) => place(row, (node) => mean(data.parts[node], 0)));
    const y = (node) => height - (data.levels[node] + 1) * high + 14;

    const edges = data.parts.map((pair, node) => draw("g", { class: "bl-branch" },
      pair.map((part) => draw("path", { d: `M${middle[node]} ${y(node) + 26}L${middle[part]} ${y(part)}` }))));
    const frame = (node, style) => draw("rect", { x: middle[node] - wide[node] / 2, y: y(node), width: wide[node], height: 26, rx: 4, style });
    const boxes = data.labels.map((parts, node) => draw("g", {}, // the first rectangle hides the lines behind a label
      frame(node, "fill: var(--bl-page); stroke: none"), frame(node),
      draw("text", { x: middle[node], y: y(node) + 18 }, label(parts, draw, "tspan")), draw("title")));
    const svg = picture(width, height, "tokens above the tokens that they are made of", edges, boxes);
    const box = region("bl-scroll", "the graph of tokens", svg);

    function show(step) {
      const added = new Set(data.added.slice(0, step)), missed = new Set(data.missed[step]);
      const newest = step ? data.added[step - 1] : null;
      boxes.forEach((node, at) => {
        const there = own.has(at) || added.has(at), hollow = missed.has(at);
        const kind = hollow ? "bl-looked" : own.has(at) ? "bl-made" : "bl-good";
        node.setAttribute("class", `bl-box ${kind}`);
        node.setAttribute("visibility", there ? "visible" : "hidden");
        node.lastChild.textContent = `${quote(data.labels[at])}: ${hollow ? "not reached" : "reached"}`;
        edges[at].setAttribute("class", `bl-branch ${at === newest ? "bl-new" : ""}`);
        edges[at].setAttribute("visibility", there ? "visible" : "hidden");
      });
      if (newest !== null) reveal(boxes[newest], box);
      return data.says[step];
    }
    const sample = (kind, text) => make("li", {}, draw("svg", { width: 22, height: 14 }, draw("g", { class: `bl-box ${kind}` },
      draw("rect", { x: 1, y: 1, width: 20, height: 12, rx: 3 }))), text);
    const key = legend(sample("bl-made", "the tokenizer's"),
      sample("bl-good", "new, and reached"), sample("bl-looked", "new, and not reached"));
    return { nodes: [box, key], count: data.added.length, show, noun: "merge" };
  });
}
