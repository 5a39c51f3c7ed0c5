// A question for the shipped model: what it is given, what it says, and what a reader should know of that. Ids may be made
// by other tokenizers, a file of the reader's among them; then the figure shows what the model takes them for. Or an
// answer is under a constraint.
// Nothing is loaded before the reader asks; then the model runs here, in language_model.js.

const SIZE = "The model, 3 MB, is loaded when you ask, and runs in this page.";
// "How many r are in "strawberry"?", and its like: a letter and a word.
const LETTERS = /\bhow many (\p{L})\b.*?\bin ["“]?(\p{L}+)["”]?/iu;

function render({ model, el }) {
  const data = model.get("data"), group = `bl-${Math.random().toString(36).slice(2)}`;
  const vocabularies = data.vocabularies.map((own) => ({ title: own.title, ...pageTokenizer(own.tokenizer) }));
  const own = vocabularies[0]; // the model's
  const choices = [...vocabularies, ...data.constraints.map((constraint) => ({ ...own, ...constraint }))];
  const generation = makeGeneration(model, data, 1), rows = data.config.vocab_size;
  let chosen = own;

  const area = messageArea("A question for the model", LONGEST_QUESTION, () => ask());
  area.value = data.question;
  const askIt = button("Ask it", () => ask());
  const choice = make("fieldset", { class: "bl-choice", hidden: choices.length < 2 && !data.own_file },
    make("legend", { class: "bl-small" }, data.constraints.length ? "The answer is" : "Ids from"));
  function offer(each, checked) {
    const radio = make("input", { type: "radio", name: group, checked, change: () => { chosen = each; ask(); } });
    choice.append(make("label", {}, radio, ` ${each.title}`));
  }
  choices.forEach((each, place) => offer(each, place === 0));
  const file = make("input", { type: "file", class: "bl-file", change: () => open(file.files[0]) });
  const drop = make("label", {
    class: "bl-small bl-drop", hidden: !data.own_file, dragover: (event) => event.preventDefault(),
    drop: (event) => { event.preventDefault(); open(event.dataTransfer.files[0]); },
  }, "A tokenizer file of yours, which stays in this page: ", file);
  const status = statusLine(SIZE);
  const head = heading(), given = div("bl-cells");
  const said = div("bl-flow"), verdict = make("p", { class: "bl-say", "aria-live": "polite" });
  const says = heading("What it says");
  const shown = make("div", { hidden: true }, head, given, says, said, verdict);

  const names = new Set(Array.from({ length: rows }, (_, id) => JSON.stringify(own.label(id))));
  const name = ({ id, control }) => (control ? own : chosen).label(id);
  // The places of the tokens that spell a word, where it last stands in the prompt.
  function spelling(tokens, word) {
    const texts = tokens.map((token) => labelText(name(token))), start = texts.join("").lastIndexOf(word);
    const ends = texts.map((_, place) => texts.slice(0, place + 1).join("").length);
    const inside = (place) => ends[place] > start && ends[place] - texts[place].length < start + word.length;
    return start < 0 ? [] : [...tokens.keys()].filter(inside);
  }
  function cell(token, marked) {
    const meant = token.id < rows ? label(own.label(token.id)) : "no row";
    return span(`bl-cell${marked ? " bl-here" : ""}`,
      make("span", { class: token.control ? "bl-faint" : "" }, label(name(token))),
      idOf(token.id),
      chosen.encode === own.encode ? null : span("bl-meant", meant));
  }
  // What is right, if the question was about a letter in a word, and what the model was given of the word.
  function judge(question, tokens, answer) {
    const [, letter, word] = question.match(LETTERS) ?? [], number = answer.match(/\d+/g)?.pop();
    if (!letter) return `It was given ${plural(tokens.length, "number")}, and no letter.`;
    const count = [...word].filter((each) => each.toLowerCase() === letter.toLowerCase()).length;
    const right = Number(number) === count ? "That is right" : `There ${count === 1 ? "is" : "are"} ${count}`;
    const ids = spelling(tokens, word).map((place) => tokens[place].id);
    return `${right}. Of “${word}” the model was given ${plural(ids.length, "number")}, ${ids.join(" ")}, and no letter.`;
  }
  // Whether these are the ids that the tokenizer makes of an answer.
  async function recode(ids) {
    const others = await own.encode(own.decode(ids)), same = others.join() === ids.join();
    return `${plural(ids.length, "token")}. The tokenizer makes ${same ? "the same" : others.length} of this text.`;
  }
  // What becomes of another tokenizer's ids.
  function compare(tokens, expected) {
    const texts = tokens.filter(({ control }) => !control), missing = texts.filter(({ id }) => id >= rows).length;
    const known = texts.filter((token) => names.has(JSON.stringify(name(token)))).length;
    const shared = `${known} of the ${plural(texts.length, "token")} of text are in its vocabulary.`;
    if (missing) {
      return `The model has rows for ${digits(rows)} ids, and ${missing} of these ids have none: it can't be asked. ${shared}`;
    }
    if (tokens.map(({ id }) => id).join() === expected.map(({ id }) => id).join()) {
      return "These are the ids of the model's own tokenizer: it reads what you wrote.";
    }
    return `The model takes each id for its own token of that number, the one below it, and answers that. ${shared}`;
  }

  async function ask() {
    const question = area.value, tokens = await promptTokens(data.prompt, question, chosen.encode);
    const word = question.match(LETTERS)?.[2], spelled = word ? spelling(tokens, word) : [];
    shown.hidden = false;
    head.textContent = `What it is given: ${plural(tokens.length, "number")}`;
    given.replaceChildren(...tokens.map((token, place) => cell(token, spelled.includes(place))));
    said.replaceChildren();
    verdict.textContent = "";
    const compared = chosen.encode === own.encode ? "" : compare(tokens, await promptTokens(data.prompt, question, own.encode));
    says.hidden = tokens.some(({ id }) => id >= rows);
    if (says.hidden) {
      generation.cancel();
      verdict.textContent = compared;
      return;
    }
    await follow(generation.answer(tokens.map(({ id }) => id), () => 0, chosen), status, async ({ steps, read, done }) => {
      const ids = steps.slice(read).map(({ id }) => id), answer = ids.map(own.label);
      said.replaceChildren(...answer.flatMap((parts, place) =>
        flowing({ class: `bl-token bl-hue${place % 4}` }, parts).nodes));
      if (done) {
        verdict.textContent = chosen.finals ? await recode(ids)
          : compared || judge(question, tokens, answer.map(labelText).join(""));
      }
    });
  }
  // Ids by a file of the reader's from now on.
  async function open(from) {
    if (!from) return;
    try {
      chosen = await fileTokenizer(new Uint8Array(await from.arrayBuffer()), from.name, "gpt2");
      offer(chosen, true);
      ask();
    } catch (problem) {
      status.textContent = problem.message;
    }
  }

  el.append(make("div", { class: "bl bl-ask", role: "group", "aria-label": "A question for a language model" },
    div("bl-own", area, askIt), choice, drop, status, shown));
  return generation.cancel;
}
