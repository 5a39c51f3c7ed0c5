// For the chosen transition point: the tokens of the measured text on a curve, and a tokenized text.

function render(context) {
  return mount(context, "The transition point", (data) => {
    const wide = 300, high = 110, left = 44, low = 88;
    const [least, most] = [Math.min(...data.counts), Math.max(...data.counts)];
    const from = data.at[0], span = Math.max(...data.at) - from || 1;
    const x = (step) => left + (wide - left - 8) * ((data.at[step] - from) / span);
    const y = (step) => 10 + (low - 18) * (1 - (data.counts[step] - least) / (most - least || 1));
    const path = data.counts.map((_, step) => `${step ? "L" : "M"}${x(step).toFixed(1)} ${y(step).toFixed(1)}`).join("");
    const dot = draw("circle", { r: 4.5, class: "bl-dot" });
    const mark = (at, height, text) => draw("text", { x: at, y: height, class: "bl-below" }, text);
    const chart = draw("svg", { viewBox: `0 0 ${wide} ${high}`, class: "bl-chart", role: "img", "aria-label": "tokens by transition point" },
      draw("path", { class: "bl-axis", d: `M${left} ${low}H${wide - 4}M${left} 4V${low}` }),
      draw("path", { class: "bl-curve", d: path }), dot,
      [...new Set([least, most])].map((count) => mark(22, y(data.counts.indexOf(count)) + 3, count.toLocaleString("en"))),
      [...new Set([0, data.at.length - 1])].map((step) => mark(x(step) - (step ? 8 : -8), low + 14, data.points[step])));
    const text = make("div", { class: "bl-flow bl-tall", tabindex: 0, role: "region", "aria-label": "the text" });

    function show(step) {
      const beyond = new Set(data.beyond[step]);
      text.replaceChildren(...data.cuts[step].flatMap((token) => flowing({
        class: `bl-token ${beyond.has(token) ? "bl-new" : ""}`,
      }, data.labels[token]).nodes.filter(Boolean)));
      dot.setAttribute("cx", x(step));
      dot.setAttribute("cy", y(step));
      return data.says[step];
    }
    const part = (title, ...nodes) => make("div", {}, make("p", { class: "bl-head" }, title), ...nodes);
    return {
      nodes: [
        part("Tokens of the measured text, by transition point", chart),
        part("A text as it is cut, superwords marked", text),
      ],
      count: data.points.length - 1, show, noun: "transition point",
    };
  });
}

export default { render };
