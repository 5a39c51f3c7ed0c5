"""The worked answers of *The ids that were never yours* are what the library does."""

from bpelab import Conversation
from bpelab.exercises import EXERCISES
from bpelab.exercises.chapters.chat_templates import chat_tokenizer


def test_the_next_prompt_is_that_of_a_conversation():
    tokenizer, compared = chat_tokenizer(), 0
    end = tokenizer.token_to_id("<|im_end|>")
    for ids, mask, question in EXERCISES["drift.3"].inputs():
        if not question:
            continue
        talk = Conversation(tokenizer, "chatml")
        talk.add({"role": "user", "content": "Hi."})
        prompt = talk.prompt()
        talk.add_generated(ids[len(prompt) :])
        talk.add({"role": "user", "content": question})
        talk.prompt()
        assert (talk.ids, talk.mask) == EXERCISES["drift.3"].solution(tokenizer, ids, mask, question)
        compared += 1
        assert talk.ids.count(end) == 3
    assert compared > 40


def test_the_runs_are_those_that_drift_joins():
    """Spellings of the book's words, byte by byte in part, against `encode`."""
    tokenizer, drifted = chat_tokenizer(), 0
    tokens = tokenizer.model.tokens
    for text in ("the harbour at night", " the lamplighter's key", "日本 naïve"):
        encoded = tokenizer.encode(text)
        for place, token in enumerate(encoded):
            spelled = [*encoded[:place], *tokens[token], *encoded[place + 1 :]]
            runs = EXERCISES["drift.1"].solution(tokens, spelled, encoded)
            ours = [([*run.ids], [*run.encoded]) for run in tokenizer.drift(spelled)]
            assert runs == ours
            drifted += len(runs)
    assert drifted > 10
