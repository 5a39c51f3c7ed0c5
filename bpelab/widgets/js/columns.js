// A text as columns, one for each byte, in which a token is a box over its bytes.

const COLUMN = 26, GAP = 14, BOX = 34, LETTER = 8.5;

// The x at which each byte begins, and `end`, the x at which it ends; a gap stands before each piece but the first.
function makeColumns(data) {
  const begins = new Set(data.pieces.slice(1));
  const starts = [];
  let x = 1;
  for (let byte = 0; byte < data.leaves.length; byte++) {
    if (begins.has(byte)) x += GAP;
    starts.push(x);
    x += COLUMN;
  }
  return { left: (byte) => starts[byte], right: (byte) => starts[byte - 1] + COLUMN, width: x + 1 };
}

// The sequence after so many steps: each step takes `take` tokens at `position` and puts one in their place.
function replay(data, count) {
  const now = data.leaves.map((id, byte) => ({ id, from: byte, to: byte + 1, step: 0 }));
  for (let place = 0; place < count; place++) {
    const step = data.steps[place];
    if (step.token === undefined || step.token === null) continue;
    const parts = now.slice(step.position || 0, (step.position || 0) + step.take);
    const merged = { id: step.token, from: parts[0].from, to: parts.at(-1).to, step: place + 1, parts };
    now.splice(step.position || 0, step.take, merged);
  }
  return now;
}

// A box from byte `from` to byte `to`; `below` is small print under the label. Labels too wide for it are narrowed.
function tokenBox(columns, { from, to, y, parts, below = "", kind = "", title = "", height = BOX }) {
  const x = columns.left(from) + 1.5, width = columns.right(to) - columns.left(from) - 3;
  const single = parts.length === 1 && parts[0][0] === "u" && to - from === 1;
  const shown = single ? [["x", parts[0][1].slice(-2)]] : parts;
  const wide = [...shown.map(([, text]) => text).join("")].length * LETTER > width - 4;
  const fit = (yes) => (yes ? { textLength: width - 5, lengthAdjust: "spacingAndGlyphs" } : {});
  const middle = x + width / 2;
  return draw("g", { class: `bl-box ${kind}` },
    draw("title", {}, title),
    draw("rect", { x, y, width, height, rx: 4 }),
    draw("text", { x: middle, y: y + (below === "" ? height / 2 + 5 : 15), ...fit(wide) },
      label(shown, draw, "tspan")),
    below === "" ? null : draw("text", {
      class: "bl-below", x: middle, y: y + height - 5, ...fit(String(below).length * 5.6 > width - 2),
    }, String(below)));
}

// A curve through points [x, y], with its axes, and a dot on the point that `mark` is called with.
function drawCurve(name, points, { high, left, low }, ...more) {
  const wide = 300, path = points.map(([x, y], n) => `${n ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const dot = draw("circle", { r: 4.5, class: "bl-dot" });
  const chart = draw("svg", { viewBox: `0 0 ${wide} ${high}`, class: "bl-chart", role: "img", "aria-label": name },
    draw("path", { class: "bl-axis", d: `M${left} ${low}H${wide - 4}M${left} 4V${low}` }),
    draw("path", { class: "bl-curve", d: path }), dot, more);
  return { chart, mark: (n) => points[n].forEach((place, axis) => dot.setAttribute(axis ? "cy" : "cx", place)) };
}

// A search, drawn anew: what was `taken` so far, as boxes, then the `rest` of the text, and the candidate under it with
// its verdict, [kind, words], which is scrolled into view in `box`.
function drawSearch({ svg, box }, columns, lane, taken, rest, candidate) {
  const reached = taken.length ? taken.at(-1).to : 0;
  svg.replaceChildren(draw("text", { class: "bl-lane", x: 3, y: 13 }, lane),
    ...taken.map((one) => tokenBox(columns, { y: 20, ...one })),
    ...rest.slice(reached).map((parts, place) => tokenBox(columns, {
      from: reached + place, to: reached + place + 1, y: 20, parts, kind: "bl-rest",
    })));
  if (!candidate) return;
  const { from, to, y, verdict: [kind, words] } = candidate, middle = (columns.left(from) + columns.right(to)) / 2;
  const x = Math.max(60, Math.min(columns.width - 60, middle));
  const verdict = draw("text", { class: `bl-verdict ${kind}`, x, y: y + BOX + 18 }, words);
  svg.append(tokenBox(columns, { ...candidate, kind }), verdict);
  reveal(verdict, box);
}

function scroller(columns, height, name) {
  const svg = picture(columns.width, height, name);
  const box = div("bl-scroll", svg);
  return { svg, box };
}
