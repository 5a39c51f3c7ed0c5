// A conversation: its messages, and the tokens of each answer with id, bytes and probability. In Jupyter, a box to
// continue it; an answer arrives as one message per token.

function render(context) {
  const { model } = context;
  let live = null; // the element that receives the tokens of the answer in progress
  const facts = (id, parts, bytes, share) => `${quote(parts)}, id ${id}, ${bytes || "no bytes"}, probability ${share.toFixed(2)}.`;
  const who = (name) => span("bl-who", name);
  const message = (parts) => div("bl-turn", who("user"), div("bl-flow", flowing({}, parts).nodes));
  const answerTo = (flow, cost) => div("bl-turn bl-answer", who("model"), make("div", {}, flow, cost));

  function asking() {
    const area = messageArea("Your message", model.get("data").limit, () => send());
    function send() {
      if (live || !area.value.trim()) return;
      model.send({ kind: "ask", text: area.value });
      area.value = "";
    }
    return div("bl-own", area, button("Send", send), button("Stop", () => model.send({ kind: "cancel" })));
  }

  const unmount = mount(context, "A conversation with a model", (data) => {
    let controls = null;
    const steps = []; // [turn, tokens shown]
    const turns = data.turns.map((turn, number) => {
      if (number) steps.push([number, 0]);
      const boxes = turn.tokens.map(([id], place) => {
        steps.push([number, place + 1]);
        const step = steps.length;
        return flowing({ class: `bl-token bl-hue${place % 4}`, click: () => { controls.stop(); controls.go(step); }, mouseenter: () => point(number, place) }, data.tokens[id]);
      });
      steps.push([number, turn.tokens.length + 1]);
      const flow = div("bl-flow");
      const cost = p("bl-small", turn.cost);
      return { turn, boxes, flow, cost, nodes: [message(turn.said), answerTo(flow, cost)] };
    });
    const detail = p("bl-detail");
    const stage = div("bl-screen bl-chat", turns.map(({ nodes }) => nodes));

    function point(number, place) { // describe a hovered token instead of a step
      const [id, share] = data.turns[number].tokens[place];
      detail.textContent = facts(id, data.tokens[id], data.bytes[id], share);
    }
    function show(step) {
      const [now, count] = step ? steps[step - 1] : [turns.length ? 0 : -1, 0];
      turns.forEach(({ turn, boxes, flow, cost, nodes }, number) => {
        const said = number < now ? boxes.length : number === now ? Math.min(count, boxes.length) : 0;
        nodes[0].hidden = number > now;
        nodes[1].hidden = number > now || (number === now && count === 0);
        cost.hidden = number === now && count <= boxes.length;
        flow.replaceChildren(...boxes.slice(0, said).flatMap((box) => box.nodes));
        boxes.forEach(({ box }, place) => box.classList.toggle("bl-here", number === now && place === count - 1));
      });
      detail.textContent = "\u00a0";
      if (!step) return data.begin;
      const { turn, boxes, nodes } = turns[now];
      reveal(count && count <= boxes.length ? boxes[count - 1].box : nodes[count ? 1 : 0], stage);
      if (count === 0) return `The user says ${quote(turn.said)}`;
      if (count > boxes.length) return turn.end;
      const [id, share] = turn.tokens[count - 1];
      return `Token ${count}: ${facts(id, data.tokens[id], data.bytes[id], share)}`;
    }
    return {
      nodes: [stage, detail], count: data.count, show, noun: "token", start: data.start,
      ready: (made) => { controls = made; },
    };
  }, asking);

  function receive({ kind, said, id, parts, bytes, share }) {
    if (kind === "begin") {
      const stage = context.el.querySelector(".bl-screen"), flow = div("bl-flow");
      live = { stage, flow, nodes: [message(said), answerTo(flow, null)], count: 0 };
      stage.append(...live.nodes);
      reveal(live.nodes[1], stage);
    } else if (kind === "piece" && live) {
      const { box, nodes } = flowing({ class: `bl-token bl-hue${live.count++ % 4}`, title: facts(id, parts, bytes, share) }, parts);
      live.flow.append(...nodes);
      reveal(box, live.stage);
    } else if (kind === "end" && live) {
      live.nodes.forEach((node) => node.remove());
      live = null;
    }
  }
  model.on("msg:custom", receive);
  return () => { model.off("msg:custom", receive); unmount(); };
}
