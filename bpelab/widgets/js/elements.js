// Elements of pages and pictures. Text from readers and tokenizers is inserted as text nodes, never as HTML.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null));
  return node;
}

function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

const div = (kind, ...nodes) => make("div", { class: kind }, nodes);
const span = (kind, ...nodes) => make("span", { class: kind }, nodes);
const p = (kind, ...nodes) => make("p", { class: kind }, nodes);
const heading = (...words) => p("bl-head", words);
const statusLine = (...words) => make("p", { class: "bl-small", role: "status" }, words);
const part = (title, ...nodes) => make("div", {}, heading(title), nodes);
const small = (...words) => span("bl-small", words);
const mono = (...words) => span("bl-mono", words);
const faint = (...words) => span("bl-faint", words);
const idOf = (id) => span("bl-id", String(id));
const legend = (...items) => make("ul", { class: "bl-legend bl-inline" }, items);
const swatch = (kind, ...words) => make("li", {}, span(`bl-swatch ${kind}`), words);
// A byte of UTF-8: the bits that mark it, and the character's own.
const byteBits = (mark, bits, below) => div("bl-byte",
  mono(span("bl-mark", mark), span("bl-payload", bits)), small(below));
// A bar from 0 to 1, between its name and its number.
const barOf = (name, share, number) => [span("bl-mono bl-pair", name),
  span("bl-track", make("span", { class: "bl-length", style: `width:${100 * share}%` })),
  span("bl-number", number)];
const stackedBar = (name, lengths, number) => make("div", { class: "bl-bar", role: "listitem" },
  span("bl-pair", name), span("bl-stack", lengths), span("bl-number", number));
// A part that scrolls, by the keyboard too.
const region = (kind, name, ...nodes) => make("div", { class: kind, role: "region", "aria-label": name, tabindex: 0 }, nodes);
const button = (text, click, more = {}) => make("button", { type: "button", class: "bl-button", click, ...more }, text);

const picture = (width, height, name, ...parts) => draw("svg", {
  width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name,
}, parts);
