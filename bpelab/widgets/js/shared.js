// What every figure shares: labels, the reader's text box, and the controls that step.

// A label is [kind, text] parts (see visible.py). Bytes side by side are kept apart by a thin space.
function label(parts, create = make, tag = "span") {
  return parts.map(([kind, text], place) => {
    if (kind === "") return text;
    const apart = kind === "x" && place && parts[place - 1][0] === "x" ? "\u2009" : "";
    return create(tag, { class: `bl-${kind}` }, apart + text);
  });
}

// A label in running text. Lines end where the text's do, after the box of a token rather than inside it, and may
// break before a space, which is drawn as a sign.
function flowing(attributes, parts, children = label(parts)) {
  const inside = parts.map(([kind], place) => (kind === "n" && place + 1 < parts.length ? "\n" : null));
  const box = make("span", attributes, children.map((node, place) => [node, inside[place]]));
  const first = parts.length && parts[0][0] === "s" ? make("wbr") : null;
  return { box, nodes: [first, box, parts.length && parts.at(-1)[0] === "n" ? "\n" : null].filter(Boolean) };
}

function labelText(parts) {
  return parts.map(([kind, text]) => (kind === "u" || kind === "x" ? `[${text}]` : text)).join("");
}

function quote(parts) {
  const chars = [...labelText(parts)];
  return `“${(chars.length > 40 ? [...chars.slice(0, 20), "…", ...chars.slice(-10)] : chars).join("")}”`;
}

const digits = (number) => number.toLocaleString("en");

function plural(count, noun) {
  return `${digits(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// Scroll `node` into view within its box, without scrolling the page.
function reveal(node, box) {
  if (!node) return;
  const inner = node.getBoundingClientRect(), outer = box.getBoundingClientRect(), margin = 24;
  const fits = inner.width < outer.width;
  if (fits && (inner.left < outer.left + margin || inner.right > outer.right - margin))
    box.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
  if (inner.top < outer.top + margin || inner.bottom > outer.bottom - margin)
    box.scrollTop += (inner.top + inner.bottom - outer.top - outer.bottom) / 2;
}

// Buttons and a slider over the steps 0 to `count`. `show(step)` draws one step and returns its sentence.
function makeControls({ count, show, noun = "step", playable = true, start = 0 }) {
  let at = start, timer = null;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const pause = Math.min(1100, Math.max(calm ? 1100 : 180, 24000 / count));
  const sentence = make("p", { class: "bl-say", "aria-live": "polite" });
  const readout = span("bl-count");
  const back = button("Back", () => { stop(); go(at - 1); }, { class: "bl-button bl-back" });
  const next = button("Next", () => { stop(); go(at + 1); }, { class: "bl-button bl-next" });
  const play = button("Play", () => (timer === null ? run() : stop()), { class: "bl-button bl-play" });
  const slider = make("input", {
    type: "range", class: "bl-slider", min: 0, max: count, step: 1, "aria-label": `${noun}, of ${count}`,
    input: () => { stop(); go(Number(slider.value)); },
  });

  // `by` is "mouseenter" if the pointer rests on something: then nothing may scroll away under it.
  function go(step, by = "") {
    at = Math.min(count, Math.max(0, step));
    sentence.textContent = show(at, by);
    slider.value = at;
    readout.textContent = `${at} of ${count}`;
    // Not `disabled`: a button that vanishes under the reader's finger loses the keyboard's focus.
    back.setAttribute("aria-disabled", at === 0);
    next.setAttribute("aria-disabled", at === count);
  }
  function run() {
    if (at === count) go(0);
    play.textContent = "Pause";
    timer = setInterval(() => { go(at + 1); if (at === count) stop(); }, pause);
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  function key(event) {
    const typing = event.target.matches("textarea, input");
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count };
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation(); // Jupyter's and the theme's own arrow keys
    stop();
    go(steps[event.key]);
  }
  const row = make("div", { class: "bl-controls", hidden: count === 0 }, back, playable ? play : null, next, slider, readout);
  return { row, sentence, go, stop, key, place: () => at };
}

// Jupyter's shortcuts don't see what is typed in it; `key` does.
const textArea = ({ key = () => {}, ...more }) => make("textarea", {
  class: "bl-text", rows: 1, spellcheck: "false", ...more, keydown: (event) => { event.stopPropagation(); key(event); },
});

function makeTextBox(model) {
  let timer = null;
  const area = textArea({
    input: () => {
      clearTimeout(timer);
      timer = setTimeout(() => { model.set("text", area.value); model.save_changes(); }, 350);
    },
  });
  area.value = model.get("text");
  model.on("change:text", () => { if (document.activeElement !== area) area.value = model.get("text"); });
  return make("label", { class: "bl-own" }, make("span", {}, "Your own text"), area);
}

// A text to write to a model, of at most `longest` characters: Enter calls `send`, Shift+Enter starts a new line.
function messageArea(title, longest, send) {
  return textArea({
    maxlength: longest, "aria-label": title,
    key: (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      send();
    },
  });
}

// What is said after so many steps.
const told = (data, step) => (step ? data.steps[step - 1].say : data.begin);

// The step at which a figure opens: in the middle of what it plays; where it lists parts, before the first is chosen.
const firstShown = ({ count, playable = true }) => (playable ? Math.ceil(count / 2) : 0);

// Set up one figure. `build(data)` returns {nodes, count, show, ...} for `makeControls`, with `nodes` to put in the page;
// `ask(model)` returns the input for the reader's text, shown if a kernel or the page computes its data.
function mount({ model, el }, title, build, ask = makeTextBox) {
  let controls = null;
  const problem = make("p", { class: "bl-error", role: "status", hidden: true });
  const body = div("bl-body");
  const root = make("div", {
    class: "bl", role: "group", "aria-label": title, tabindex: 0, keydown: (event) => controls?.key(event),
  }, model.get("live") || model.get("own_text") ? ask(model) : null, problem, body);

  function redraw() {
    controls?.stop();
    const data = model.get("data");
    const figure = build(data);
    controls = makeControls(figure);
    const note = data.note ? p("bl-note", data.note) : null;
    body.replaceChildren(controls.row, controls.sentence, ...figure.nodes, ...(note ? [note] : []));
    if (figure.ready) figure.ready(controls);
    controls.go(figure.start ?? firstShown(figure));
  }
  function complain() {
    problem.textContent = model.get("error");
    problem.hidden = !problem.textContent;
  }
  model.on("change:data", redraw);
  model.on("change:error", complain);
  el.append(root);
  redraw();
  complain();
  return () => {
    controls.stop();
    model.off("change:data", redraw);
    model.off("change:error", complain);
  };
}
