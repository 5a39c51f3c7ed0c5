// The text as boxes that merge, and above them the tree of merges, each node with its rank.

const LEVEL = 22;

function render(context) {
  return mount(context, "Merges of a text, step by step", (data) => {
    const columns = makeColumns(data);
    const nodes = replay(data, data.steps.length);

    // The tree's height is that of the finished tree, so that nothing moves while it grows.
    const tree = [];
    function place(node) {
      if (!node.parts) {
        node.level = 0;
        node.x = (columns.left(node.from) + columns.right(node.to)) / 2;
        return;
      }
      node.parts.forEach(place);
      node.level = 1 + Math.max(...node.parts.map((part) => part.level));
      node.x = (node.parts[0].x + node.parts.at(-1).x) / 2;
      tree.push(node);
    }
    nodes.forEach(place);
    const levels = Math.max(1, ...tree.map((node) => node.level));
    const base = levels * LEVEL + 12;
    const height = (node) => base - node.level * LEVEL;

    const { svg, box } = scroller(columns, base + BOX + 6, "tree of merges over the tokens");
    const branches = new Map();
    for (const node of tree) {
      const first = node.parts[0], last = node.parts.at(-1), y = height(node);
      const line = `M${first.x} ${height(first)}V${y}H${last.x}V${height(last)}`;
      const inner = node.parts.slice(1, -1).map((part) => `M${part.x} ${height(part)}V${y}`).join("");
      const rank = data.steps[node.step - 1].rank;
      const shown = rank === null ? "whole" : String(rank);
      const half = shown.length * 3.4 + 3;
      branches.set(node.step, draw("g", { class: "bl-branch" },
        draw("path", { d: line + inner }),
        draw("rect", { x: node.x - half, y: y - 7, width: 2 * half, height: 14, rx: 7 }),
        draw("text", { x: node.x, y: y + 4 }, shown)));
    }
    // Drawn from the top down, so that the ranks lie over the lines.
    svg.append(...[...branches.values()].reverse());
    const row = draw("g");
    svg.append(row);

    function show(step) {
      for (const [made, branch] of branches) {
        branch.classList.toggle("bl-later", made > step);
        branch.classList.toggle("bl-new", made === step);
      }
      row.replaceChildren(...replay(data, step).map((token) => tokenBox(columns, {
        from: token.from, to: token.to, y: base, parts: data.labels[token.id], below: token.id,
        kind: token.step === step && step > 0 ? "bl-new" : token.step ? "bl-made" : "",
        title: `${quote(data.labels[token.id])}, id ${token.id}`,
      })));
      reveal(row.querySelector(".bl-new"), box);
      return told(data, step);
    }
    return { nodes: [box], count: data.steps.length, show, noun: "merge" };
  });
}
