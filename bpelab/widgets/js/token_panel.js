// One vocabulary's view of a text: tokens, ids, bytes and merges. Pointing at one of them lights up what belongs to it.

const TRACED = 2000, SHOWN = 1000; // characters whose merges are replayed; tokens that are drawn

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");

// `point(begin, end)` is called with the bytes of the text that a token stands for when the reader points at it.
function makeTokenPanel(name, point) {
  // A box in which the arrow keys choose one of `count()` things.
  const listBox = (kind, what, count, pick) => make("div", {
    class: kind, tabindex: 0, role: "group", "aria-label": `${what}, ${name}: left and right arrows choose one`,
    keydown: (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation(); // the slider's own arrow keys
      if (count()) pick(Math.min(count() - 1, Math.max(0, chosen + step)));
    },
    focus: () => { chosen = -1; },
  });
  const flow = listBox("bl-flow bl-tall", "Tokens", () => drawn.length, (at) => choose(at));
  const merges = listBox("bl-merges", "Merges", () => replay.stages.length, (n) => chooseMerge(n));
  const ids = p("bl-mono bl-ids"), bytes = p("bl-mono bl-ids");
  const detail = make("p", { class: "bl-detail", "aria-live": "polite" });
  const cut = div("bl-flow bl-tall"), stage = make("div"), note = make("p", { class: "bl-note", hidden: true });
  const pieces = make("div", { hidden: true }, heading("Pieces"), cut), made = make("div", {}, heading("Merges"), merges);
  const node = make("div", {
    mouseover: (event) => follow(event), click: (event) => follow(event), mouseleave: () => choose(-1),
    keydown: (event) => controls?.key(event),
  }, stage, flow, note, detail, pieces, heading("Ids"), ids, heading("Bytes"), bytes, made);
  let drawn = [], others = null, chosen = -1, controls = null, replay = { symbols: [], stages: [] };

  function follow({ target }) {
    const token = target.closest("[data-token]"), merge = target.closest("[data-merge]");
    if (token) choose(Number(token.dataset.token));
    else if (merge) chooseMerge(Number(merge.dataset.merge));
  }
  const mark = (box, key, kind, lit) => box.querySelectorAll(`[data-${key}]`)
    .forEach((part) => part.classList.toggle(kind, lit(Number(part.dataset[key]))));
  function lightTokens(lit) { for (const box of [flow, ids, bytes]) mark(box, "token", "bl-here", lit); }
  const within = ({ begin, stop }, token) => begin >= token.begin && stop <= token.stop;
  const mergesOf = (token) => replay.stages.filter(({ steps }) => steps.some((step) => within(step, token)));

  function choose(at) {
    chosen = at;
    const token = drawn[at];
    lightTokens((one) => one === at);
    mark(merges, "merge", "bl-here", (n) => Boolean(token) && replay.stages[n].steps.some((step) => within(step, token)));
    point(token ? token.from : -1, token ? stop(token) : -1);
    if (!token) { detail.textContent = ""; return; }
    const steps = mergesOf(token).map((one) => one.label).join(", ");
    detail.textContent = `Token ${at + 1}: ${quote(token.label)}, id ${token.id}, ${plural(token.bytes.length, "byte")} ${
      hex(token.bytes)}${steps ? `, merges: ${steps}` : ""}.`;
    for (const box of [flow, ids, bytes]) reveal(box.querySelector(`[data-token="${at}"]`), box);
  }
  function chooseMerge(n) {
    const { steps, label } = replay.stages[n];
    chosen = n;
    lightTokens((at) => steps.some((step) => within(step, drawn[at])));
    mark(merges, "merge", "bl-here", (one) => one === n);
    detail.textContent = `Merge ${n + 1}: ${label}, ${plural(steps.length, "time")}.`;
    reveal(merges.querySelector(`[data-merge="${n}"]`), merges);
  }
  const range = ({ from, bytes: own }) => `${from} ${own.length}`, stop = ({ from, bytes: own }) => from + own.length;
  const differs = (token) => others !== null && stop(token) <= others.end && !others.all.has(range(token));
  function markDifferent() { mark(flow, "token", "bl-differs", (at) => differs(drawn[at])); }
  function draw(tokens, names) {
    let from = 0;
    drawn = tokens.slice(0, SHOWN).map((token) => ({ ...token, from: (from += token.bytes.length) - token.bytes.length }));
    flow.replaceChildren(...drawn.flatMap((token, at) => tokenBoxes(token, at, names)));
    const listed = (text) => drawn.flatMap((token, at) => [make("span", { "data-token": at }, text(token)), " "]);
    ids.replaceChildren(...listed((token) => token.id));
    bytes.replaceChildren(...listed((token) => hex(token.bytes)));
    markDifferent();
    chosen = -1;
    detail.textContent = "";
  }
  return {
    node,
    // Show a text; a Promise of what TokenizerService says of its ids. `ask(method, ...)` asks it about the vocabulary.
    async show(text, vocabulary, ask, withPieces) {
      const traced = text.length <= TRACED, { names } = vocabulary;
      const [all, trace, cuts] = await Promise.all([
        ask("encode", text, { most: SHOWN }), traced ? ask("trace", text) : null, withPieces ? ask("pieces", text) : null,
      ]);
      const known = new Map([...all.bytes, ...(trace?.bytes ?? [])]);
      const labelOf = (id) => (names.has(id) ? [["", names.get(id)]] : labelBytes(known.get(id)));
      const token = (one) => ({ ...one, bytes: known.get(one.id), label: labelOf(one.id) });
      controls?.stop();
      replay = trace ? mergeStages(trace) : { symbols: [], stages: [] };
      for (const one of replay.stages) one.label = mergeLabel(one, labelOf);
      const last = replay.stages.length, size = toBytes(text).length;
      function show(step) {
        const whole = step === last;
        const tokens = traced ? tokensAfter(replay, step) : all.ids.map((id, at) => ({ id, begin: at, stop: at + 1 }));
        const count = traced ? tokens.length : all.count;
        draw(tokens.map((one) => token({ ...one, isNew: one.isNew && !whole })), names);
        const counts = `${plural(count, "token")} for ${plural(size, "byte")}`;
        if (!text) return "Type something: every language and sign has tokens.";
        if (whole) return `${counts}: ${(size / count).toFixed(2)} bytes per token.`;
        if (!step) return `${counts}: before the first merge.`;
        const { label, steps } = replay.stages[step - 1];
        return `Merge ${step} of ${last}: ${label}, ${plural(steps.length, "time")}. ${counts}.`;
      }
      controls = makeControls({ count: last, show, noun: "merge", start: last });
      stage.replaceChildren(controls.row, controls.sentence);
      controls.go(last);
      merges.replaceChildren(...replay.stages.map((one, n) => make("span", { class: "bl-chip bl-made", "data-merge": n }, one.label)));
      made.hidden = !last;
      note.hidden = all.count <= SHOWN && traced;
      note.textContent = `The first ${digits(SHOWN)} tokens are drawn, and all are counted. Merges are shown of `
        + `${digits(TRACED)} characters at most.`;
      pieces.hidden = !cuts;
      cut.replaceChildren(...(cuts ?? []).slice(0, SHOWN).flatMap((piece, at) => flowing(
        { class: `bl-token bl-hue${at % 4}` }, labelBytes(toBytes(piece))).nodes));
      return all;
    },
    // Which bytes of the text each token stands for, or null if tokens aren't the text's own bytes.
    ranges(text) {
      const given = toBytes(text), end = drawn.length ? stop(drawn.at(-1)) : 0;
      const same = drawn.every(({ from, bytes: own }) => own.every((byte, n) => byte === given[from + n]));
      return same ? { all: new Set(drawn.map(range)), end } : null;
    },
    // Mark the tokens that aren't among those of another panel.
    compare(ranges) { others = ranges; markDifferent(); },
    // Light up the tokens that have some of the bytes from `begin` to `end`.
    light: (begin, end) => lightTokens((at) => drawn[at].from < end && stop(drawn[at]) > begin),
    stop: () => controls?.stop(),
  };
}

// A token in running text; `names` has those of special tokens, which stand out.
function tokenBoxes({ id, label: parts, isNew }, at, names) {
  const special = names.has(id), colour = special ? "bl-forged" : isNew ? "bl-new" : `bl-hue${at % 4}`;
  const { nodes, box } = flowing({ class: `bl-token ${colour}`, title: `id ${id}`, "data-token": at }, parts);
  if (special) box.append(idOf(id));
  return nodes;
}

// What a merge joins, such as “st” + “r”, or a piece that no merge makes.
function mergeLabel({ rank, parts, id }, labelOf) {
  return rank === TAKEN_WHOLE ? `${quote(labelOf(id))}, taken whole` : parts.map((part) => quote(labelOf(part))).join(" + ");
}
