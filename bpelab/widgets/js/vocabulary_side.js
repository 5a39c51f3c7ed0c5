// One side of the box: the choice of a vocabulary, what is said before one is fetched, and what it makes of the text.

// `point(begin, end)`: see token_panel.js; `update()` shows the text again, `tell(sentence)` says something.
function makeVocabularySide(name, vocabularies, service, { start, point, update, tell }) {
  const select = make("select", {
    "aria-label": name,
    change: () => {
      side.chosen = vocabularies.all.find((one) => one.key === Number(select.value));
      update();
    },
  });
  const panel = makeTokenPanel(name, point), offer = make("div", { class: "bl-offer", hidden: true });
  const node = make("div", {}, make("label", { class: "bl-small" }, `${name} `, select), offer, panel.node);
  const say = (...words) => {
    panel.node.hidden = words.length > 0;
    offer.hidden = !words.length;
    offer.replaceChildren(...words);
  };
  const side = {
    node, panel, chosen: vocabularies.all[start], shown: null,
    ask: (method, ...given) => service.call(method, side.chosen.key, ...given),
    // Show a text; afterwards `shown` is what the service said of its ids, or null.
    async show(text, withPieces) {
      const own = side.chosen;
      listChoices();
      side.shown = null;
      try {
        const ready = await vocabularies.available(own);
        side.shown = ready ? await panel.show(text, own, side.ask, withPieces) : null;
        say(...(ready ? [] : offered(own)));
      } catch (problem) {
        say(problem.message);
      }
    },
  };
  function listChoices() {
    const groups = [...new Set(vocabularies.all.map((one) => one.group))];
    const options = (group) => vocabularies.all.filter((one) => one.group === group)
      .map((one) => make("option", { value: one.key }, one.title));
    select.replaceChildren(...groups.map((group) => make("optgroup", { label: group }, options(group))));
    select.value = side.chosen.key;
  }
  function offered(own) {
    const get = button(`Fetch it from ${new URL(own.address).host}`, () => fetchIt(own, get));
    return [`${own.title} is not in this page. It would come from `, make("code", {}, own.address),
      ". That server sees that you fetch it; your text stays here. ", get];
  }
  async function fetchIt(own, get) {
    if (get.getAttribute("aria-disabled") === "true") return;
    get.setAttribute("aria-disabled", true);
    try {
      await vocabularies.download(own, (size) => tell(`${own.title}: ${(size / 1e6).toFixed(1)} MB have arrived.`));
      tell(`${own.title} is here. Your browser keeps it for the next visit, if it can.`);
      update();
    } catch (problem) {
      get.setAttribute("aria-disabled", false);
      tell(`${own.title} can't be fetched: ${problem.message}. Without a network, open a file that you have.`);
    }
  }
  return side;
}
