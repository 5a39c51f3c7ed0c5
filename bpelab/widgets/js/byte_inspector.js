// A row for each code point; for the selected one, how its bits are spread over the bytes of UTF-8.

function render(context) {
  return mount(context, "Code points and bytes of a text", (data) => {
    let controls = null;
    const rows = data.characters.map((row, place) => {
      const go = (event) => controls.go(place + 1, event.type);
      return make("tr", { click: go, mouseenter: go },
        make("td", { class: "bl-char" }, label(row.label)), make("td", { class: "bl-mono" }, row.code), make("td", {}, row.name),
        make("td", {}, row.category),
        ...[row.utf8.join(" "), row.utf16.join(" "), row.utf32].map((bytes) => make("td", { class: "bl-mono" }, bytes)));
    });
    const line = (cells, tag) => make("tr", {}, cells.map((cell) => make(tag, {}, cell)));
    const head = make("thead", {}, line(["", "code point", "name", "category", "UTF-8", "UTF-16", "UTF-32"], "th"));
    const box = region("bl-scroll bl-tall", "code points",
      make("table", { class: "bl-table" }, head, make("tbody", {}, rows)));
    const bits = div("bl-bits");
    const forms = make("table", { class: "bl-table" },
      make("thead", {}, line(["normal form", "text", "code points", "bytes in UTF-8"], "th")),
      make("tbody", {}, data.forms.map((form) => make("tr", { class: form.same ? "" : "bl-changed" },
        make("td", {}, form.name),
        make("td", { class: "bl-char" }, form.same ? "the same" : label(form.label), form.cut ? "…" : ""),
        make("td", {}, String(form.characters)), make("td", {}, String(form.bytes))))));

    function show(step, by) {
      rows.forEach((row, place) => row.classList.toggle("bl-here", place === step - 1));
      const row = data.characters[Math.max(0, step - 1)];
      bits.replaceChildren(...(row ? row.bits.map(([mark, payload], place) => byteBits(mark, payload, row.utf8[place])) : []));
      if (!step) return data.say;
      if (by !== "mouseenter") reveal(rows[step - 1], box);
      return `${row.code}, ${row.name}: ${row.category}. ${plural(row.utf8.length, "byte")} in UTF-8, ${row.utf8.join(" ")}.`;
    }
    return {
      nodes: data.characters.length ? [box,
        part("Its bits in UTF-8: marks grey, the code point's own bits coloured", bits),
        part("Normal forms of the whole text",
          region("bl-scroll", "normal forms", forms))] : [],
      count: data.characters.length, show, noun: "code point", playable: false, ready: (made) => { controls = made; },
    };
  });
}
