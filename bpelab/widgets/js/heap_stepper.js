// Above, the linked list: tokens, and under them the nodes with their links. Below, the heap, as a tree and as its array.

const MOST = 30, LEVELS = 4, SLOT = 42, ROW = 50;

// A link from node to node, with a head at both ends: one for `following`, one for `previous`.
function drawLink(from, to, y) {
  const deep = y + 10 + Math.min(14, (to - from) / COLUMN * 3), head = "l-3 4m3 -4l3 4";
  return draw("path", { class: "bl-arc", d: `M${from} ${y}C${from} ${deep} ${to} ${deep} ${to} ${y}${head}M${from} ${y}${head}` });
}

// The first levels of the heap: the children of the entry at i are at 2i + 1 and 2i + 2.
function drawTree(array, kindOf) {
  const shown = Math.min(array.length, 2 ** LEVELS - 1), levels = Math.ceil(Math.log2(shown + 1));
  const width = SLOT * 2 ** Math.max(0, levels - 1), height = Math.max(1, ROW * levels - 14);
  const at = (i) => {
    const level = Math.floor(Math.log2(i + 1)), many = 2 ** level;
    return [(i + 1 - many + 0.5) * (width / many), level * ROW + 1];
  };
  const svg = picture(width, height, "the heap as a binary tree, lowest rank on top; the list that follows has the same entries");
  for (let i = 1; i < shown; i++) {
    const [x, y] = at(i), [above, top] = at((i - 1) >> 1);
    svg.append(draw("path", { class: "bl-edge", d: `M${above} ${top + 34}L${x} ${y}` }));
  }
  array.slice(0, shown).forEach((entry, i) => {
    const [x, y] = at(i);
    svg.append(draw("g", { class: `bl-box ${kindOf(entry)}` },
      draw("title", {}, `[${i}] rank ${entry[0]}, node ${entry[1]}`),
      draw("rect", { x: x - 19, y, width: 38, height: 34, rx: 4 }),
      draw("text", { x, y: y + 16 }, String(entry[0])),
      draw("text", { class: "bl-node", x, y: y + 29, ...(entry[1] > 9 ? { textLength: 34, lengthAdjust: "spacingAndGlyphs" } : {}) },
        `node ${entry[1]}`)));
  });
  return svg;
}

function render(context) {
  return mount(context, "A heap of pairs, pop by pop", (data) => {
    const columns = makeColumns(data);
    const { svg, box } = scroller(columns, BOX + 50, "the tokens, and the linked list of their nodes");
    const popped = div("bl-popped");
    const heap = make("ol", { class: "bl-heap", "aria-label": "the heap's array, from index 0" });
    const tree = div("bl-scroll bl-tree");
    const title = p("bl-small");

    const pair = (entry) => span("bl-mono",
      label(data.labels[entry[2]]), faint(" + "), label(data.labels[entry[3]]));
    function card(entry, tag, kind, remark, index = null) {
      return make(tag, { class: `bl-entry ${kind}` },
        index && small(index), make("strong", {}, String(entry[0])), pair(entry),
        small(`node ${entry[1]}`),
        remark ? span("bl-remark", remark) : null);
    }

    function show(step) {
      const tokens = replay(data, step);
      const current = step ? data.steps[step - 1] : null;
      svg.replaceChildren();
      tokens.forEach((token, place) => {
        const here = current && token.from === current.node;
        const kind = here ? (current.action === "stale" ? "bl-looked" : "bl-new") : token.step ? "bl-made" : "";
        svg.append(tokenBox(columns, {
          from: token.from, to: token.to, y: 2, parts: data.labels[token.id], kind, height: BOX - 6,
          title: `node ${token.from}: ${quote(data.labels[token.id])}, id ${token.id}`,
        }));
        for (let node = token.from; node < token.to; node++) {
          const left = node === token.from;
          const unlinked = here && current.action === "pop" && node === token.parts[1].from;
          const x = columns.left(node) + COLUMN / 2, y = BOX + 2;
          svg.append(draw("g", { class: `bl-box ${left ? kind : unlinked ? "bl-bad" : "bl-gone"}` },
            draw("title", {}, left ? `node ${node}` : `node ${node}, out of the list`),
            draw("rect", { x: x - 10, y, width: 20, height: 16, rx: 3 }),
            draw("text", { class: "bl-node", x, y: y + 12 }, String(node))));
        }
        const middle = (byte) => columns.left(byte) + COLUMN / 2;
        if (place) svg.append(drawLink(middle(tokens[place - 1].from) + 4, middle(token.from) - 4, BOX + 20));
      });
      const came = data.entries.find((entry) => entry[5] === step && step > 0);
      popped.replaceChildren(came
        ? card(came, "div", current.action === "stale" ? "bl-stale" : "bl-new", current.action === "stale" ? "stale" : "merged")
        : small(step ? "the whole piece" : "nothing yet"));
      const array = data.heaps[step].map((number) => data.entries[number]);
      const isStale = (entry) => entry[6] !== null && entry[6] <= step;
      const isFresh = (entry) => step > 0 && entry[4] === step;
      tree.replaceChildren(drawTree(array, (entry) => (isStale(entry) ? "bl-gone" : isFresh(entry) ? "bl-good" : "")));
      heap.replaceChildren(...array.slice(0, MOST).map((entry, place) => card(
        entry, "li", isStale(entry) ? "bl-stale" : isFresh(entry) ? "bl-fresh" : "",
        isStale(entry) ? "stale" : isFresh(entry) ? "pushed" : "", `[${place}]`)));
      const more = array.length > MOST ? `, ${MOST} shown` : "";
      const top = array.length >= 2 ** LEVELS ? ` The tree shows the first ${2 ** LEVELS - 1}.` : "";
      title.textContent = `On the heap: ${array.length}${more}. The children of [i] are at [2i + 1] and [2i + 2].${top}`;
      reveal(svg.querySelector(".bl-new, .bl-looked"), box);
      return told(data, step);
    }
    return {
      nodes: [box, p("bl-small", "Popped"), popped, title, tree, heap],
      count: data.steps.length, show, noun: "pop",
    };
  });
}
