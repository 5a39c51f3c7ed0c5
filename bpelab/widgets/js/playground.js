// A text box whose tokens and ids appear while the reader types: encoded here, in the page, by bpe.js.

const SHORT = 2000; // characters

function render({ model, el }) {
  const data = model.get("data"), splitters = data.patterns.map(makeSplitter), utf8 = new TextEncoder();
  const vocabularies = data.vocabularies.map((own) => {
    const splitter = splitters[own.pattern];
    return { ...own, ...splitter, ...makeEncoder(splitter, own.merges) };
  });
  const group = `bl-${Math.random().toString(36).slice(2)}`;
  let chosen = vocabularies[0], controls = null;

  const area = make("textarea", {
    class: "bl-text", rows: 3, maxlength: SHORT, spellcheck: "false", "aria-label": "Text to encode",
    input: () => redraw(), keydown: (event) => event.stopPropagation(),
  });
  area.value = data.text;
  const choice = make("fieldset", { class: "bl-choice" }, make("legend", { class: "bl-small" }, "Vocabulary"),
    vocabularies.map((own, place) => make("label", {}, make("input", {
      type: "radio", name: group, checked: place === 0, change: () => { chosen = own; redraw(); },
    }), ` ${own.title}`)));
  const flow = make("div", { class: "bl-flow bl-tall" }), cut = make("div", { class: "bl-flow" });
  const pieces = make("div", { hidden: splitters.length < 2 }, make("p", { class: "bl-head" }, "Pieces"), cut);
  const list = make("p", { class: "bl-mono bl-ids" });
  const stage = make("div"), attack = make("div", { "aria-live": "polite", hidden: true });
  const button = make("button", {
    type: "button", class: "bl-button", "aria-pressed": "false", hidden: !vocabularies.some((own) => own.specials.length),
    click: () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", on);
      area.value = on ? data.attack : data.text;
      redraw();
    },
  }, "Show an attack");

  function chip(id, place, kind = "") {
    const special = chosen.specials.find((one) => one[1] === id);
    const parts = special ? [["", special[0]]] : visible(chosen.bytes(id), chosen.look);
    const colour = special ? "bl-forged" : kind || `bl-hue${place % 4}`;
    const { nodes, box } = flowing({ class: `bl-token ${colour}`, title: `id ${id}` }, parts);
    if (special) box.append(make("span", { class: "bl-id" }, String(id)));
    return nodes.filter(Boolean);
  }
  // The tokens of a text if a program looks for special tokens in it.
  function careless(text, specials = chosen.specials) {
    if (!specials.length) return chosen.encode(text);
    const [[name, id], ...others] = specials;
    return text.split(name).flatMap((part, place) => [...(place ? [id] : []), ...careless(part, others)]);
  }
  function redraw() {
    if (controls) controls.stop();
    const text = area.value.slice(0, SHORT).toWellFormed?.() ?? area.value.slice(0, SHORT);
    const used = new Map(), size = utf8.encode(text).length;
    cut.replaceChildren(...chosen.split(text).flatMap((piece, place) => {
      const { nodes } = flowing({ class: `bl-token bl-hue${place % 4}` }, visible([...utf8.encode(piece)], chosen.look));
      return nodes.filter(Boolean);
    }));
    const ids = chosen.encode(text, Infinity, used), ranks = [...used.keys()].sort((a, b) => a - b);

    function show(step) {
      const rank = step ? ranks[step - 1] : -1, whole = step === ranks.length;
      const now = whole ? ids : chosen.encode(text, rank + 1);
      flow.replaceChildren(...now.flatMap((id, place) => chip(id, place, !whole && id === 256 + rank ? "bl-new" : "")));
      list.textContent = now.join(" ");
      const counts = `${plural(now.length, "token")} for ${plural(size, "byte")}`;
      if (!text) return "Type something: every language and sign has tokens.";
      if (whole) return `${counts}: ${(size / now.length).toFixed(2)} bytes per token.`;
      if (!step) return `${counts}: before the first merge every byte is a token.`;
      const [left, right] = [0, 1].map((side) => quote(visible(chosen.bytes(chosen.merges[2 * rank + side]), chosen.look)));
      return `Merge ${step} of ${ranks.length}: rank ${rank} joins ${left} and ${right}, ${plural(used.get(rank), "time")}. ${counts}.`;
    }
    controls = makeControls({ count: ranks.length, show, noun: "merge", start: ranks.length });
    stage.replaceChildren(controls.row, controls.sentence);
    controls.go(ranks.length);
    attack.hidden = button.getAttribute("aria-pressed") !== "true";
    if (attack.hidden) return;
    const panel = (title, all) => make("div", {}, make("p", { class: "bl-head" }, title),
      make("div", { class: "bl-flow" }, all.flatMap((id, place) => chip(id, place))));
    attack.replaceChildren(
      make("p", {}, data.warning),
      make("div", { class: "bl-two" }, panel("A careless program", careless(text)), panel("bpelab", ids)));
  }
  el.append(make("div", {
    class: "bl", role: "group", "aria-label": "Tokens of your own text", keydown: (event) => controls.key(event),
  }, make("label", { class: "bl-small bl-type" }, "Type anything, in any language", area), choice, stage, flow,
  pieces, make("p", { class: "bl-head" }, "Ids"), list, button, attack));
  redraw();
  return () => controls.stop();
}

export default { render };
