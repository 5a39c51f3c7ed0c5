// The ids that were pushed, the bytes that the decoder holds back, bit by bit, and the screen.

function render(context) {
  return mount(context, "Ids on their way to a screen", (data) => {
    const chips = data.ids.map((id) => make("span", { class: "bl-chip", title: data.tokens[id][1] }, label(data.tokens[id][0])));
    const row = div("bl-tokens", chips);
    const held = div("bl-bits");
    const screen = div("bl-flow bl-tall bl-screen");

    function byteBox([byte, mark, bits], place) {
      const kind = mark === "10" ? "goes on" : mark === "0" ? "whole" : "first byte";
      return byteBits(mark, bits, `${byte}, ${kind}`);
    }
    const gap = () => div("bl-byte bl-missing",
      mono("10······"), small("still to come"));

    function show(step) {
      const current = step ? data.steps[step - 1] : null;
      chips.forEach((chip, place) => {
        chip.classList.toggle("bl-made", place < step - 1);
        chip.classList.toggle("bl-new", place === step - 1);
      });
      const bytes = current ? [...current.held.map(byteBox), ...Array.from({ length: current.missing }, gap)] : [];
      held.replaceChildren(...(bytes.length ? bytes : [small("nothing")]));
      const shown = data.steps.slice(0, step).filter(({ new: text }) => text.length).map((entry) => flowing(
        { class: entry === current ? "bl-token bl-new" : "" }, entry.new).nodes);
      screen.replaceChildren(...shown.flat());
      reveal(chips[step - 1], row);
      reveal(screen.querySelector(".bl-new"), screen);
      return told(data, step);
    }
    return {
      nodes: data.ids.length ? [part("Tokens", row), part("Held back", held), part("On the screen", screen)] : [],
      count: data.steps.length, show, noun: "push",
    };
  });
}
