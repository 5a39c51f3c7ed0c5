// The ids that were pushed, the bytes that the decoder holds back, bit by bit, and the screen.

function render(context) {
  return mount(context, "Ids on their way to a screen", (data) => {
    const chips = data.ids.map((id) => make("span", { class: "bl-chip", title: data.tokens[id][1] }, label(data.tokens[id][0])));
    const row = make("div", { class: "bl-tokens" }, chips);
    const held = make("div", { class: "bl-bits" });
    const screen = make("div", { class: "bl-flow bl-tall bl-screen" });

    function byteBox([byte, mark, bits], place) {
      const kind = mark === "10" ? "goes on" : mark === "0" ? "whole" : "first byte";
      return make("div", { class: "bl-byte" },
        make("span", { class: "bl-mono" }, make("span", { class: "bl-mark" }, mark), make("span", { class: "bl-payload" }, bits)),
        make("span", { class: "bl-small" }, `${byte}, ${kind}`));
    }
    const gap = () => make("div", { class: "bl-byte bl-missing" },
      make("span", { class: "bl-mono" }, "10······"), make("span", { class: "bl-small" }, "still to come"));

    function show(step) {
      const current = step ? data.steps[step - 1] : null;
      chips.forEach((chip, place) => {
        chip.classList.toggle("bl-made", place < step - 1);
        chip.classList.toggle("bl-new", place === step - 1);
      });
      const bytes = current ? [...current.held.map(byteBox), ...Array.from({ length: current.missing }, gap)] : [];
      held.replaceChildren(...(bytes.length ? bytes : [make("span", { class: "bl-small" }, "nothing")]));
      const shown = data.steps.slice(0, step).filter(({ new: text }) => text.length).map((entry) => flowing(
        { class: entry === current ? "bl-token bl-new" : "" }, entry.new).nodes);
      screen.replaceChildren(...shown.flat().filter(Boolean));
      reveal(chips[step - 1], row);
      reveal(screen.querySelector(".bl-new"), screen);
      return step === 0 ? data.begin : current.say;
    }
    const part = (title, node) => make("div", {}, make("p", { class: "bl-head" }, title), node);
    return {
      nodes: data.ids.length ? [part("Tokens", row), part("Held back", held), part("On the screen", screen)] : [],
      count: data.steps.length, show, noun: "push",
    };
  });
}

export default { render };
