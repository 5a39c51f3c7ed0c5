// For the chosen transition point: the tokens of the measured text on a curve, and a tokenized text.

function render(context) {
  return mount(context, "The transition point", (data) => {
    const wide = 300, high = 110, left = 44, low = 88;
    const [least, most] = [Math.min(...data.counts), Math.max(...data.counts)];
    const from = data.at[0], span = Math.max(...data.at) - from || 1;
    const x = (step) => left + (wide - left - 8) * ((data.at[step] - from) / span);
    const y = (step) => 10 + (low - 18) * (1 - (data.counts[step] - least) / (most - least || 1));
    const print = (at, height, text) => draw("text", { x: at, y: height, class: "bl-below" }, text);
    const points = data.counts.map((_, step) => [x(step), y(step)]);
    const { chart, mark } = drawCurve("tokens by transition point", points, { high, left, low },
      [...new Set([least, most])].map((count) => print(22, y(data.counts.indexOf(count)) + 3, digits(count))),
      [...new Set([0, data.at.length - 1])].map((step) => print(x(step) - (step ? 8 : -8), low + 14, data.points[step])));
    const text = region("bl-flow bl-tall", "the text");

    function show(step) {
      const beyond = new Set(data.beyond[step]);
      text.replaceChildren(...data.cuts[step].flatMap((token) => flowing({
        class: `bl-token ${beyond.has(token) ? "bl-new" : ""}`,
      }, data.labels[token]).nodes));
      mark(step);
      return data.says[step];
    }
    return {
      nodes: [
        part("Tokens of the measured text, by transition point", chart),
        part("A text as it is cut, superwords marked", text),
      ],
      count: data.points.length - 1, show, noun: "transition point",
    };
  });
}
