// The box: a reader's text, in one vocabulary or in two side by side, tokenized in this page by the library.

function render({ model, el }) {
  const data = model.get("data"), live = model.get("live");
  const service = makeTokenizerService(), vocabularies = makeVocabularies(data, service);
  const texts = { own: data.text, attack: data.attack };
  let attacked = false, busy = false, again = false;

  const status = statusLine(), tell = (sentence) => { status.textContent = sentence; };
  const area = textArea({
    rows: 3, "aria-label": "Text to encode", input: () => { texts[attacked ? "attack" : "own"] = area.value; update(); },
  });
  const attackButton = button("Show an attack", () => {
    attacked = !attacked;
    attackButton.setAttribute("aria-pressed", attacked);
    area.value = attacked ? texts.attack : texts.own;
    update();
  }, { "aria-pressed": "false", hidden: !data.vocabularies.some((own) => own.specials.length) });
  const file = make("input", { type: "file", hidden: true, change: () => openFile(file.files[0]) });
  const compare = button("Compare two vocabularies", () => { showSecond(second.node.hidden); update(); }, { "aria-pressed": "false" });
  const link = button("Link to this text", async () => {
    const beside = second.node.hidden ? {} : { beside: second.chosen.title };
    tell(await writeTextLink({ text: area.value, with: first.chosen.title, ...beside }));
  }, { hidden: live });
  const price = make("input", { class: "bl-text bl-price", type: "number", min: 0, step: "any", value: 1, input: () => sayDifference() });
  const difference = make("p", { "aria-live": "polite" });
  const comparison = make("div", { class: "bl-comparison", hidden: true }, difference,
    make("label", { class: "bl-small" }, "Price of a million tokens ", price));
  const attack = make("div", { "aria-live": "polite", hidden: true });

  const update = () => { again = true; if (!busy) work(); };
  const side = (name, start, other) => makeVocabularySide(name, vocabularies, service, {
    start, update, tell, point: (begin, end) => { if (other().shown) other().panel.light(begin, end); },
  });
  const first = side("Vocabulary", 0, () => second);
  const second = side("Second vocabulary", Math.min(1, vocabularies.all.length - 1), () => first), sides = [first, second];

  function showSecond(on) {
    second.node.hidden = !on;
    second.shown = null;
    compare.setAttribute("aria-pressed", on);
  }
  async function openFile(given) {
    file.value = "";
    if (!given) return;
    tell(`Opening ${given.name} …`);
    try {
      (second.node.hidden ? first : second).chosen = await vocabularies.addFile(given);
      tell(`${given.name} is open, in this page only.`);
      update();
    } catch (problem) {
      tell(problem.message);
    }
  }
  function followLink() {
    const given = readTextLink(location.hash), named = (title) => vocabularies.all.find((one) => one.title === title);
    if (!given) return;
    texts.own = given.text;
    if (!attacked) area.value = given.text;
    first.chosen = named(given.with) ?? first.chosen;
    second.chosen = named(given.beside) ?? second.chosen;
    showSecond(Boolean(named(given.beside)));
    update();
  }
  function sayDifference() {
    comparison.hidden = !first.shown || !second.shown;
    const [ranges, others] = sides.map((one) => (comparison.hidden ? null : one.panel.ranges(area.value)));
    first.panel.compare(ranges && others);
    second.panel.compare(others && ranges);
    if (comparison.hidden) return;
    const [less, more] = [first, second].sort((one, other) => one.shown.count - other.shown.count);
    const [few, many] = [less.shown.count, more.shown.count], cost = (count) => (count * price.value).toLocaleString("en");
    difference.textContent = few === many ? `Both need ${plural(few, "token")}. A million such texts cost ${cost(few)}.`
      : `“${more.chosen.title}” needs ${plural(many - few, "token")} more than “${less.chosen.title}”: ${(many / few).toFixed(2)
        } times as many. A million such texts cost ${cost(many)} instead of ${cost(few)}. Underlined tokens are not among the other's.`;
  }
  async function showAttack(text) {
    attack.hidden = !attacked || !first.shown;
    attack.replaceChildren();
    if (attack.hidden) return;
    const { names, title } = first.chosen, careless = await first.ask("encode", text, { most: SHOWN, careless: true });
    const label = (id, bytes) => (names.has(id) ? [["", names.get(id)]] : labelBytes(bytes.get(id)));
    const panel = (name, { ids, bytes }) => part(name, div("bl-flow",
      ids.flatMap((id, at) => tokenBoxes({ id, label: label(id, bytes) }, at, names))));
    const forged = careless.ids.some((id) => names.has(id));
    attack.replaceChildren(make("p", {}, forged ? data.warning : `No special token of “${title}” is in this text.`),
      div("bl-two", panel("A careless program", careless), panel("bpelab", first.shown)));
  }
  async function work() { // while one text is at work, only the last one waits
    busy = true;
    root.setAttribute("aria-busy", "true");
    try {
      while (again) {
        again = false;
        const text = area.value, shown = sides.filter(({ node }) => !node.hidden);
        await Promise.all(shown.map((one) => one.show(text, patterns.size > 1)));
        sayDifference();
        await showAttack(text);
      }
    } finally {
      busy = false;
      root.setAttribute("aria-busy", "false");
    }
  }
  const patterns = new Set(data.vocabularies.map((own) => own.pattern[0]));
  const over = (on) => (event) => { event.preventDefault(); root.classList.toggle("bl-over", on); };
  const root = make("div", {
    class: "bl", role: "group", "aria-label": "Tokens of your own text", "aria-busy": "true",
    dragover: over(true), dragleave: over(false),
    drop: (event) => { over(false)(event); openFile(event.dataTransfer.files[0]); },
  }, make("label", { class: "bl-small bl-type" }, "Type anything, in any language", area),
  div("bl-filter", button("Open a tokenizer's file", () => file.click()), file, compare, attackButton, link),
  p("bl-small", "Or drop one here: tokenizer.json, .tiktoken, tekken.json or GGUF. Nothing that you type or open leaves this page."),
  status, comparison, attack, div("bl-two", first.node, second.node));
  el.append(root);
  showSecond(false);
  area.value = texts.own;
  if (!live) window.addEventListener("hashchange", followLink);
  if (!live) followLink();
  update();
  return () => {
    window.removeEventListener("hashchange", followLink);
    for (const { panel } of sides) panel.stop();
    service.end();
  };
}
