// Above, the linked list: live nodes as boxes with links. Below, the heap in the order in which entries would come off.

const MOST = 30;

function render(context) {
  return mount(context, "A heap of pairs, pop by pop", (data) => {
    const columns = makeColumns(data);
    const { svg, box } = scroller(columns, BOX + 26, "the linked list");
    const popped = make("div", { class: "bl-popped" });
    const heap = make("ol", { class: "bl-heap", "aria-label": "the heap, next entry first" });
    const title = make("p", { class: "bl-small" });

    const pair = (entry) => make("span", { class: "bl-mono" },
      label(data.labels[entry[2]]), make("span", { class: "bl-faint" }, " + "), label(data.labels[entry[3]]));
    function card(entry, tag, kind, remark) {
      return make(tag, { class: `bl-entry ${kind}` },
        make("strong", {}, String(entry[0])), pair(entry),
        make("span", { class: "bl-small" }, `node ${entry[1]}`),
        remark ? make("span", { class: "bl-remark" }, remark) : null);
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
        svg.append(draw("text", { class: "bl-node", x: (columns.left(token.from) + columns.right(token.from + 1)) / 2, y: BOX + 12 },
          String(token.from)));
        if (place) {
          const x = columns.left(token.from);
          svg.append(draw("path", { class: "bl-link", d: `M${x - 1.5} ${BOX / 2 - 1}H${x + 1.5}` }));
        }
      });
      const came = data.entries.find((entry) => entry[5] === step && step > 0);
      popped.replaceChildren(came
        ? card(came, "div", current.action === "stale" ? "bl-stale" : "bl-new", current.action === "stale" ? "stale" : "merged")
        : make("span", { class: "bl-small" }, step ? "the whole piece" : "nothing yet"));
      const waiting = data.entries.filter((entry) => entry[4] <= step && (entry[5] === null || entry[5] > step));
      waiting.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      heap.replaceChildren(...waiting.slice(0, MOST).map((entry) => {
        const stale = entry[6] !== null && entry[6] <= step;
        const fresh = step > 0 && entry[4] === step;
        return card(entry, "li", stale ? "bl-stale" : fresh ? "bl-fresh" : "", stale ? "stale" : fresh ? "pushed" : "");
      }));
      const more = waiting.length > MOST ? `, ${MOST} shown` : "";
      title.textContent = `On the heap, lowest rank first: ${waiting.length}${more}`;
      reveal(svg.querySelector(".bl-new, .bl-looked"), box);
      return step === 0 ? data.begin : data.steps[step - 1].say;
    }
    return {
      nodes: [box, make("p", { class: "bl-small" }, "Popped"), popped, title, heap],
      count: data.steps.length, show, noun: "pop",
    };
  });
}

export default { render };
