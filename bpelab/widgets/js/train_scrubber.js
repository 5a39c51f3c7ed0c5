// Bars for the most frequent pairs, the tokens learned, the size of the text by step, and the text as it is cut.

const WIDE = 300, HIGH = 84;

function render(context) {
  return mount(context, "A training, merge by merge", (data) => {
    const bars = make("div", { class: "bl-bars", role: "list", "aria-label": "the most frequent pairs" });
    const learned = p("bl-learned");
    const text = region("bl-flow bl-tall", "the text");
    const most = Math.max(1, ...data.bars.flat().map((bar) => bar[2]));
    const count = data.steps.length, bytes = data.sizes[0];

    // How many tokens the text takes, step by step, from all its bytes down.
    const x = (step) => 4 + (WIDE - 8) * (count ? step / count : 0);
    const y = (size) => 4 + (HIGH - 8) * (1 - size / Math.max(1, bytes));
    const points = data.sizes.map((size, step) => [x(step), y(size)]);
    const { chart, mark } = drawCurve("tokens by step", points, { high: HIGH, left: 4, low: HIGH - 4 });
    const size = p("bl-small");

    function show(step) {
      const winner = step < count;
      const top = data.bars[step] || [];
      bars.replaceChildren(...top.map(([left, right, number], place) => make("div", {
        class: `bl-bar ${winner && place === 0 ? "bl-win" : ""}`, role: "listitem",
      }, barOf([label(data.labels[left]), faint(" + "), label(data.labels[right])], number / most,
        winner && place === 0 ? `${number} ◂ next` : String(number)))));
      if (!top.length) bars.append(p("bl-small", "No pair occurs twice."));
      const newest = step ? data.steps[step - 1].token : null;
      learned.replaceChildren(...data.steps.slice(0, step).map(({ token }) => make("span", {
        class: `bl-chip ${token === newest ? "bl-new" : "bl-made"}`, title: `id ${token}`,
      }, label(data.labels[token]))));
      if (!step) learned.append(small("the 256 bytes and nothing else"));
      const cuts = data.words.map((cut) => cut.filter(([from]) => from <= step).pop()[1]);
      text.replaceChildren(...data.order.flatMap((word) => [data.labels[cuts[word][0]][0][0] === "s" ? make("wbr") : "", span("bl-piece",
        cuts[word].map((token) => flowing({
          class: `bl-token ${token === newest ? "bl-new" : token > 255 ? "bl-made" : ""}`,
        }, data.labels[token]).nodes.filter((node) => node.nodeName !== "WBR")))]));
      mark(step);
      size.textContent = `${plural(data.sizes[step], "token")} for ${plural(bytes, "byte")}`;
      return data.says[step];
    }
    return {
      nodes: [
        div("bl-two", part("Most frequent pairs", bars),
          make("div", {}, part("Tokens in the text, merge by merge", chart, size), part("Tokens learned", learned))),
        part("The text, as it is cut now", text),
      ],
      count, show, noun: "merge",
    };
  });
}
