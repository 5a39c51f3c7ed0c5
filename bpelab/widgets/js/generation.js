// An answer in a page: the ids of a prompt, and the model's tokens after them, as chat/generation.py makes them. The
// model is loaded when it is first asked something. What two prompts share is fed once.

const LONGEST_QUESTION = 200;

// The tokens of a prompt, {id, control}. `parts` is what the template writes around a message: the ids of control tokens,
// and texts to encode, in which U+FFFC stands for the message.
async function promptTokens(parts, message, encode) {
  const whole = message.toWellFormed?.() ?? message, tokens = [];
  for (const part of parts) {
    const control = typeof part === "number";
    const ids = control ? [part] : await encode(part.replaceAll("\ufffc", () => whole));
    for (const id of ids) tokens.push({ id, control });
  }
  return tokens;
}

// The bytes of the weights: from beside the page, or from a notebook's kernel.
function weightsOf(model) {
  return new Promise((resolve) => {
    model.on("msg:custom", ({ kind }, [view]) => kind === "weights" && resolve(new Uint8Array(view.buffer)));
    model.send({ kind: "weights" });
  });
}

// Show each step of an answer, while `status` says what the model does.
async function follow(answer, status, show) {
  status.textContent = "Loading the model …";
  try {
    for await (const now of answer) {
      status.textContent = "The model runs in this page.";
      await show(now);
    }
  } catch (problem) {
    status.textContent = problem.message;
  }
}

// A model that answers one prompt at a time. `count`: how many likely tokens each step lists.
function makeGeneration(model, { config, stop, max_new_tokens: most }, count) {
  const breath = () => new Promise((resolve) => { setTimeout(resolve); });
  let loading = null, running = 0;
  let held = []; // the steps whose keys and values are in the model's cache

  // Read these ids, and go on until a stop token, or as a constraint allows. Yields {steps, read, ended, done} when the
  // ids are read, after each token, and when the answer is over; nothing more once another answer is asked for.
  async function* answer(ids, temperature = () => 0, { transitions, finals } = {}) {
    const own = ++running, over = stop.includes(ids.at(-1)), prompt = over ? ids.slice(0, -1) : ids;
    const superseded = () => own !== running;
    try {
      loading ??= (model.loadWeights ?? (() => weightsOf(model)))()
        .then((bytes) => makeLanguageModel(config, readSafetensors(bytes)));
      const language = await loading;
      if (superseded()) return;
      const same = ids.findIndex((id, at) => held[at]?.id !== id);
      held = held.slice(0, same < 0 ? prompt.length : same);
      language.keep(held.length);
      const steps = held, full = Math.min(language.context, prompt.length + most);
      const compute = async (id) => {
        steps.push(computedStep(language, id, count));
        await breath();
      };
      for (const id of prompt.slice(steps.length)) {
        await compute(id);
        if (superseded()) return;
      }
      let ended = over, state = 0;
      yield { steps, read: prompt.length, ended, done: false };
      while (!ended && !superseded() && steps.length < full) {
        const after = transitions?.[state], ends = finals?.includes(state);
        const may = (each) => !after || each in after || (ends && stop.includes(each));
        const logits = steps.at(-1).logits.map((logit, each) => (may(each) ? logit : -Infinity));
        const id = sample(logits, temperature());
        ended = stop.includes(id);
        state = after?.[id];
        if (!ended) await compute(id);
        if (superseded()) return;
        yield { steps, read: prompt.length, ended, done: false };
      }
      if (!superseded()) yield { steps, read: prompt.length, ended, done: true };
    } catch (problem) {
      loading = null;
      held = [];
      throw problem;
    }
  }
  return { answer, cancel: () => { running += 1; } };
}
