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
    const merged = { id: step.token, from: parts[0].from, to: parts[parts.length - 1].to, step: place + 1, parts };
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

function scroller(columns, height, name) {
  const svg = draw("svg", {
    width: columns.width, height, viewBox: `0 0 ${columns.width} ${height}`, role: "img", "aria-label": name,
  });
  const box = make("div", { class: "bl-scroll" }, svg);
  return { svg, box };
}
