// A reader's own text on a page, where no kernel is: the figure's data, as `compute` in Python makes them, from what the
// library says of the text. It is loaded when a reader first types.

const COMPUTED = {
  merge_player: ownMerges, pre_token_view: ownPieces, stream_buffer: ownPushes, token_view: ownTokens, transition_point: ownCuts,
};

// The text that a figure shows of what was typed, and a note if that is not all: Figure.text.
function shownText(typed, { limit, unit }) {
  const size = (text) => (unit === "byte" ? toBytes(text).length : [...text].length);
  const valid = new TextDecoder("utf-8", { ignoreBOM: true }).decode(toBytes(typed)), chars = [...valid].slice(0, limit);
  while (size(chars.join("")) > limit) chars.pop();
  const text = chars.join("");
  const note = `Only the first ${digits(size(text))} of ${plural(size(valid), unit)} are shown.`;
  return { text, note: text === valid ? "" : note };
}

// What anywidget's model is in a notebook: it computes new data when its text is saved. `loadLibrary` is a Promise.
function pageModel(name, { own_text: own, ...data }, loadLibrary) {
  const state = { data, own_text: own, text: own ? own.text : "", live: false, error: "" }, listeners = {};
  let tokenizers = null;
  const tell = (key, value) => { state[key] = value; for (const hear of listeners[`change:${key}`] ?? []) hear(); };
  async function compute() {
    try {
      await loadLibrary();
      tokenizers ??= own.tokenizers.map((trained) => library.service.openTrained(trained));
      const { text, note } = shownText(state.text, own);
      tell("data", { ...COMPUTED[name](text, tokenizers, own, data), note });
      tell("error", "");
    } catch (problem) {
      tell("error", problem.message);
    }
  }
  return {
    get: (key) => state[key], set: (key, value) => { state[key] = value; }, save_changes: () => own && compute(),
    on: (event, hear) => { (listeners[event] ??= []).push(hear); }, off() {}, send() {},
  };
}
