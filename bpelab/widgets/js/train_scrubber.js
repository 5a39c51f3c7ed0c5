// Bars for the most frequent pairs, the tokens learned, the size of the text by step, and the text as it is cut.

const WIDE = 300, HIGH = 84;

function render(context) {
  return mount(context, "A training, merge by merge", (data) => {
    const bars = make("div", { class: "bl-bars", role: "list", "aria-label": "the most frequent pairs" });
    const learned = make("p", { class: "bl-learned" });
    const text = make("div", { class: "bl-flow bl-tall", tabindex: 0, role: "region", "aria-label": "the text" });
    const most = Math.max(1, ...data.bars.flat().map((bar) => bar[2]));
    const count = data.steps.length, bytes = data.sizes[0];

    // How many tokens the text takes, step by step, from all its bytes down.
    const x = (step) => 4 + (WIDE - 8) * (count ? step / count : 0);
    const y = (size) => 4 + (HIGH - 8) * (1 - size / Math.max(1, bytes));
    const path = data.sizes.map((size, step) => `${step ? "L" : "M"}${x(step).toFixed(1)} ${y(size).toFixed(1)}`).join("");
    const dot = draw("circle", { r: 4.5, class: "bl-dot" });
    const chart = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "bl-chart", role: "img", "aria-label": "tokens by step" },
      draw("path", { class: "bl-axis", d: `M4 ${HIGH - 4}H${WIDE - 4}M4 4V${HIGH - 4}` }),
      draw("path", { class: "bl-curve", d: path }), dot);
    const size = make("p", { class: "bl-small" });

    function show(step) {
      const winner = step < count;
      const top = data.bars[step] || [];
      bars.replaceChildren(...top.map(([left, right, number], place) => make("div", {
        class: `bl-bar ${winner && place === 0 ? "bl-win" : ""}`, role: "listitem",
      }, make("span", { class: "bl-mono bl-pair" }, label(data.labels[left]), make("span", { class: "bl-faint" }, " + "), label(data.labels[right])),
      make("span", { class: "bl-track" }, make("span", { class: "bl-length", style: `width:${(100 * number) / most}%` })),
      make("span", { class: "bl-number" }, winner && place === 0 ? `${number} ◂ next` : String(number)))));
      if (!top.length) bars.append(make("p", { class: "bl-small" }, "No pair occurs twice."));
      const newest = step ? data.steps[step - 1].token : null;
      learned.replaceChildren(...data.steps.slice(0, step).map(({ token }) => make("span", {
        class: `bl-chip ${token === newest ? "bl-new" : "bl-made"}`, title: `id ${token}`,
      }, label(data.labels[token]))));
      if (!step) learned.append(make("span", { class: "bl-small" }, "the 256 bytes and nothing else"));
      const cuts = data.words.map((cut) => cut.filter(([from]) => from <= step).pop()[1]);
      text.replaceChildren(...data.order.flatMap((word) => [data.labels[cuts[word][0]][0][0] === "s" ? make("wbr") : "", make("span", { class: "bl-piece" },
        cuts[word].map((token) => flowing({
          class: `bl-token ${token === newest ? "bl-new" : token > 255 ? "bl-made" : ""}`,
        }, data.labels[token]).nodes.filter((node) => node && node.nodeName !== "WBR")))]));
      dot.setAttribute("cx", x(step));
      dot.setAttribute("cy", y(data.sizes[step]));
      size.textContent = `${plural(data.sizes[step], "token")} for ${plural(bytes, "byte")}`;
      return data.says[step];
    }
    const part = (title, ...nodes) => make("div", {}, make("p", { class: "bl-head" }, title), ...nodes);
    return {
      nodes: [
        make("div", { class: "bl-two" }, part("Most frequent pairs", bars),
          make("div", {}, part("Tokens in the text, merge by merge", chart, size), part("Tokens learned", learned))),
        part("The text, as it is cut now", text),
      ],
      count, show, noun: "merge",
    };
  });
}

export default { render };
