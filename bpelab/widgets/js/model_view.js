// The shipped model at work: what it reads, what it says, and for each token its row of numbers, where attention looks
// and what could come next. It begins with a recording. Asking, or choosing another token, loads the weights and runs
// the model here, in language_model.js.

const ROWS = "The first line is looked up by the id, and each line below is what a layer makes of it. "
  + "Blue is above zero, orange below.";
const RECORDED = "This answer was recorded. Ask, or choose another token below: the model, 3 MB, is then loaded, "
  + "and runs in this page.";

const percent = (share) => (share < 0.001 ? "under 0.1 %" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`);

function render({ model, el }) {
  const data = model.get("data"), tokenizer = pageTokenizer(data.tokenizer), { layers, heads } = data.shape;
  const generation = makeGeneration(model, data, data.best[0].length);
  let steps = recordedSteps(data), asked = data.asked, ended = data.ids.length - asked < data.most, controls = null;

  // -- the reader's part
  const area = messageArea("A question for the model", LONGEST_QUESTION, () => ask());
  area.value = data.question;
  const ask = async () => {
    const tokens = await promptTokens(data.prompt, area.value, tokenizer.encode);
    answer(tokens.map(({ id }) => id), Infinity);
  };
  const examples = data.examples.map((text) => button(text, () => { area.value = text; ask(); }));
  const heatSays = make("output", { class: "bl-small" }, "0: always the likeliest");
  const heat = make("input", {
    type: "range", class: "bl-slider bl-short", min: 0, max: 2, step: 0.1, value: 0,
    input: () => { heatSays.textContent = Number(heat.value) ? heat.value : "0: always the likeliest"; },
  });
  const status = statusLine(RECORDED);

  // -- the picture
  const given = div("bl-cells"), said = div("bl-cells");
  const stage = make("div"), bars = div("bl-bars"), looks = p("bl-detail");
  const canvas = make("canvas", {
    class: "bl-strip-rows", width: data.shape.width, height: layers + 1, role: "img", "aria-label": ROWS,
  });
  const choice = (name, count, all) => make("select", {
    "aria-label": name, change: () => controls.go(controls.place()),
  }, all, Array.from({ length: count }, (_, number) => make("option", { value: number }, `${name} ${number + 1}`)));
  const layer = choice("layer", layers, []), head = choice("head", heads, make("option", { value: "" }, "all heads"));
  layer.value = layers - 2;

  function cell(place) {
    const { id } = steps[place], click = () => { controls.stop(); controls.go(place); };
    return make("span", { class: "bl-cell", click },
      make("span", { class: tokenizer.special(id) ? "bl-faint" : "" }, label(tokenizer.label(id))),
      idOf(id));
  }
  // How much the token at a place takes from each token up to itself, in the layer and head that are chosen.
  function attention(place) {
    const own = steps[place].attention[Number(layer.value)];
    if (head.value !== "") return own[Number(head.value)];
    return own[0].map((_, at) => own.reduce((sum, weights) => sum + weights[at], 0) / own.length);
  }
  function next(place) { // the token that came after a place, and its probability
    if (place + 1 === steps.length) return ended ? data.stop[0] : null;
    return steps[place + 1].id;
  }
  // A probability: all of them are known of a step that was computed, some of one that was recorded.
  function shareOf(step, id) {
    return step.shares ? step.shares[id] : step.best.find(([token]) => token === id)?.[1] ?? step.came;
  }

  // The place in the answer at which the model was least sure of the token that came.
  function doubt() {
    const places = steps.map((_, place) => place).slice(asked - 1).filter((place) => next(place) !== null);
    const share = (place) => shareOf(steps[place], next(place));
    return places.reduce((least, place) => (share(place) < share(least) ? place : least), asked - 1);
  }

  function bar(place, [id, share], came) {
    return make("button", {
      type: "button", class: `bl-bar bl-pick${id === came ? " bl-win" : ""}`, title: `id ${id}: go on with this token`,
      click: () => answer([...steps.slice(0, place + 1).map((step) => step.id), id], Math.min(asked, place + 1)),
    }, barOf(label(tokenizer.label(id)), share, percent(share)));
  }
  function paintRows(step) {
    const picture = canvas.getContext("2d"), pixels = picture.createImageData(canvas.width, canvas.height);
    step.rows.forEach((row, line) => {
      const most = row.reduce((high, number) => Math.max(high, Math.abs(number)), 1e-9);
      row.forEach((number, at) => {
        const colour = number < 0 ? [213, 94, 0] : [0, 114, 178];
        pixels.data.set([...colour, 255 * Math.abs(number) / most], 4 * (line * canvas.width + at));
      });
    });
    picture.putImageData(pixels, 0, 0);
  }
  function show(place) {
    const step = steps[place], weights = attention(place), top = Math.max(...weights);
    const came = next(place), name = quote(tokenizer.label(step.id));
    [...given.children, ...said.children].forEach((node, at) => {
      node.classList.toggle("bl-here", at === place);
      node.style.background = at <= place ? `rgb(86 180 233 / ${(0.4 * weights[at] / top).toFixed(3)})` : "";
      node.title = at <= place ? `attention: ${percent(weights[at])}` : "not read yet";
    });
    const most = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 3);
    const taken = most.map((at) => `${quote(tokenizer.label(steps[at].id))} (${percent(weights[at])})`);
    looks.textContent = `It takes most from ${taken.join(", ")}.`;
    const rows = step.best.map((pair) => bar(place, pair, came));
    const shown = came === null || step.best.some(([id]) => id === came);
    if (!shown) rows.push(bar(place, [came, shareOf(step, came)], came));
    bars.replaceChildren(...rows);
    paintRows(step);
    const read = `Token ${place + 1} of ${steps.length} is ${name}, id ${step.id}.`;
    if (came === null) return `${read} The answer may have no more tokens.`;
    const share = percent(shareOf(step, came)), after = quote(tokenizer.label(came));
    if (place + 1 < asked) return `${read} The question goes on with ${after}, to which the model gave ${share}.`;
    const end = data.stop.includes(came) ? " That ends the answer." : "";
    return `${read} The model goes on with ${after}, ${share}.${end}`;
  }
  function redraw(place) {
    controls?.stop();
    given.replaceChildren(...steps.slice(0, asked).map((_, at) => cell(at)));
    said.replaceChildren(...steps.slice(asked).map((_, at) => cell(asked + at)));
    controls = makeControls({ count: steps.length - 1, show, noun: "token", start: place });
    stage.replaceChildren(controls.row, controls.sentence);
    controls.go(place);
  }

  // Read these ids, and go on until the answer ends. The answer begins at place `from`, or after all of them.
  function answer(ids, from) {
    return follow(generation.answer(ids, () => Number(heat.value)), status, (now) => {
      ({ steps, ended } = now);
      asked = Math.min(from, now.read);
      if (now.done) redraw(from === Infinity ? doubt() : now.read - 1);
      else if (steps.length > now.read) redraw(steps.length - 1);
    });
  }

  const coming = part("What could come next: choose one, and the model goes on from there", bars,
    make("label", { class: "bl-own" }, make("span", {}, "Temperature"), heat, heatSays));
  const inside = part("Where attention looks: the bluer a token, the more it gives",
    make("p", {}, layer, " ", head), looks,
    heading("The token's row of numbers"), canvas, p("bl-small", ROWS));
  el.append(make("div", {
    class: "bl", role: "group", "aria-label": "A language model", tabindex: 0, keydown: (event) => controls.key(event),
  }, div("bl-own", area, button("Ask", ask)), div("bl-filter", examples), status,
  stage, heading("What the model reads"), given, heading("What it says"), said,
  div("bl-two", coming, inside)));
  redraw(doubt());
  return () => { generation.cancel(); controls.stop(); };
}
