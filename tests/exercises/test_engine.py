"""The engine, on made-up exercises: limits, shrinking, and answers that behave badly."""

import asyncio
import gc
import json
import os
import re
import signal
import subprocess
import sys
import tracemalloc
from collections import Counter, namedtuple
from functools import partial
from pathlib import Path

import pytest

from bpelab import exercises
from bpelab.encoders import ENCODERS
from bpelab.errors import BPELabError
from bpelab.exercises import EXERCISES, UnknownExerciseError, check, hint, progress, progress_store as record
from bpelab.exercises.checker import check_answer
from bpelab.exercises.exercise import Exercise
from bpelab.exercises.explanation import differing
from bpelab.exercises.limits import LimitedCall, Limits
from bpelab.exercises.plain_data import Opaque, to_plain
from bpelab.exercises.shrink import smaller_inputs
from bpelab.model import BPEModel
from bpelab.notebook.messages import Message, code, short

SMALL = Limits(lines=20_000, seconds=5, megabytes=20)


def double(text):
    """The text twice."""
    return text + text


outside_the_book = partial(Exercise, level="easy", next_step="Try three times.")
DOUBLE = outside_the_book(
    "99.1",
    "Twice",
    double,
    lambda: [("",), ("a",), ("ab",), ("abcabc",), ("xyz" * 30,)],
    ("Add the text to itself.",),
    limits=SMALL,
)


def said(answer, exercise=DOUBLE) -> str:
    right, message = check_answer(exercise, answer)
    assert not right
    assert message._repr_html_()
    return repr(message)


class TestWhatIsSaid:
    def test_right(self):
        assert check_answer(DOUBLE, double)[0]
        lines = repr(check_answer(DOUBLE, double)[1]).splitlines()
        assert lines == ["99.1 (Twice): Right. Checked on 5 inputs.", "Try three times."]

    @pytest.mark.parametrize(
        ("answer", "state"), [(None, "not started"), (str.upper, "not solved yet"), (double, "solved")]
    )
    def test_a_frame_says_level_and_state(self, answer, state):
        """In words, for those who see no colours and for those who hear the page."""
        _, message = check_answer(DOUBLE, answer)
        html = message._repr_html_()
        assert f'role="group" aria-label="99.1 (Twice), easy, {state}"' in html
        assert f"<em>easy · {state}</em>" in html and "border: 1px solid" in html
        assert repr(message).startswith("99.1 (Twice): ")

    def test_wrong_with_the_smallest_input(self):
        text = said(lambda text: text if "c" in text else text + text)
        assert "double('c')\n    expected  'cc'\n    got       'c'" in text

    def test_wrong_in_one_entry_of_a_long_result(self):
        """The other entries, and the long list's beginning and end, are left out."""
        right = {"encode": list(range(300)), "save": [b"line %d" % number for number in range(300)]}
        wrong = right | {"save": [*right["save"][:200], b"line", *right["save"][201:]]}
        expected, got = differing(right, wrong)
        assert expected == {"save[200:203]": [b"line 200", b"line 201", b"line 202"]}
        assert got == {"save[200:203]": [b"line", b"line 201", b"line 202"]}
        shorter = differing(right, right | {"encode": list(range(299))})
        assert shorter == ({"encode[299:302]": [299]}, {"encode[299:302]": []})
        assert differing({"a": 1, "b": 2}, {"a": 1, "b": 3}) == ({"a": 1, "b": 2}, {"a": 1, "b": 3})

    @pytest.mark.parametrize("answer", [None, ..., lambda text: None, lambda text: ..., lambda *a: print(end="")])
    def test_not_started(self, answer):
        assert "Not started yet" in said(answer)

    def test_no_longer_a_stub_when_some_input_has_an_answer(self):
        text = said(lambda text: text + text if "a" in text else None)
        assert "got       None" in text

    def test_raised_with_the_line_of_the_reader(self, tmp_path):
        path = tmp_path / "cell.py"
        path.write_text("def answer(text):\n    copy = text\n    return copy + text[0]\n")
        space = {}
        exec(compile(path.read_text(), str(path), "exec"), space)
        text = said(space["answer"])
        assert "Raised IndexError: string index out of range, on this input:\n    double('')" in text
        assert "line 3 of your code:\n    return copy + text[0]" in text

    def test_raised_inside_the_library_names_the_line_that_called_it(self):
        def answer(text):
            return BPEModel.from_merges([(b"ab", b"c")])

        text = said(answer)
        assert "Raised ModelError" in text
        assert 'return BPEModel.from_merges([(b"ab", b"c")])' in text

    def test_wrong_number_of_arguments(self):
        assert "Raised TypeError" in said(lambda: 3)

    def test_a_value_where_a_function_is_wanted(self):
        assert 'check("99.1", double)' in said("aa")

    def test_what_was_printed_is_shown(self):
        def answer(text):
            print("looking at", text)
            return text

        assert "Your code printed:\n    looking at a" in said(answer)

    def test_html_is_escaped(self):
        message = check_answer(DOUBLE, lambda text: "<script>alert(1)</script>")[1]
        assert "<script>" not in message._repr_html_()
        assert "&lt;script&gt;" in message._repr_html_()

    def test_values_are_code(self):
        model = BPEModel.from_merges([(b"a", b"b"), (b"ab", b"c")])
        table = BPEModel.from_ranks(model.ids)
        single = {bytes([byte]): byte for byte in range(256)}
        space = {"BPEModel": BPEModel, "ENCODERS": ENCODERS, "single": single}
        for value in (model, table, dict(model.ids), [(1, {"a": {2}})], (1,), set()):
            again = eval(code(value), space)
            assert code(again) == code(value)
        assert eval(code(ENCODERS["trie"](model)), space).encode_piece(b"abc") == [257]
        assert code(object()) == "<object object at 0x...>"
        assert len(short(code("x" * 100_000))) < 1_000


class TestLimits:
    def endless(text):
        while True:
            pass

    # A loop on one line jumps to itself and begins no further line; ruff would put it on two.
    endless_on_one_line = eval("lambda text: [None for _ in iter(int, 1)]")
    on_the_spot: dict = {}  # noqa: RUF012
    exec("def answer(text):\n    while True: pass\n", on_the_spot)

    def catches_everything(text):
        while True:
            try:
                while True:
                    pass
            except:  # noqa: E722
                pass

    def tries_again(text):
        while True:
            try:
                text += ""
            except BaseException:
                continue

    def returns_in_the_end(text):
        try:
            while True:
                pass
        finally:
            return text + text  # noqa: B012

    def endless_generator(text):
        return sum(1 for _ in iter(int, 1))

    def calls_itself_twice(text, depth=0):
        return (
            ""
            if depth == 40
            else TestLimits.calls_itself_twice(text, depth + 1) + (TestLimits.calls_itself_twice(text, depth + 1))
        )

    def quadratic(text):
        total = 0
        for _ in range(500):
            for _ in range(500):
                total += 1
        return text + text

    @pytest.mark.parametrize(
        "answer",
        [
            endless, endless_on_one_line, on_the_spot["answer"], catches_everything, tries_again, returns_in_the_end,
            endless_generator, calls_itself_twice, quadratic,
        ],
    )  # fmt: skip
    def test_time(self, answer):
        assert "Took too long" in said(answer)
        assert sys.gettrace() is None or "coverage" in str(sys.gettrace())

    def test_only_the_large_input_takes_too_long(self):
        def answer(text):
            for _ in range(len(text) ** 3):
                pass
            return text + text

        text = said(answer)
        assert "Took too long: one call may run 20,000 lines" in text
        assert "double('xyzxyz" in text

    def test_slow_calls_into_c_are_reported_afterwards(self):
        quick = outside_the_book("99.2", "Slow", double, lambda: [("a",)], ("",), limits=Limits(20_000, 0.01, 20))

        def answer(text):
            sum(range(3_000_000))
            sum(range(3_000_000))
            return text

        assert "Took too long" in said(answer, quick)

    def piles_up(text):
        blocks = []
        while True:
            blocks.append(bytes(100_000))

    def all_at_once(text):
        return len(bytes(50_000_000))

    def asks_for_too_much(text):
        raise MemoryError

    @pytest.mark.parametrize("answer", [piles_up, all_at_once, asks_for_too_much])
    def test_memory(self, answer):
        tracing = tracemalloc.is_tracing()
        assert "Used too much memory" in said(answer)
        assert tracemalloc.is_tracing() == tracing

    def test_library_code_is_not_counted(self):
        model = BPEModel.from_merges([(b"a", b"b")])

        def answer(text):
            ENCODERS["naive"](model).encode_piece(b"ab" * 200)
            return text + text

        assert check_answer(DOUBLE, answer)[0]

    def test_a_trace_function_is_put_back(self):
        def mine(frame, event, argument):
            return None

        before = sys.gettrace()
        sys.settrace(mine)
        try:
            check_answer(DOUBLE, double)
            check_answer(DOUBLE, TestLimits.endless)
            trace = sys.gettrace()
        finally:
            sys.settrace(before)
        assert trace is mine

    def test_tracemalloc_of_the_user_goes_on(self):
        tracemalloc.start()
        try:
            check_answer(DOUBLE, double)
            assert tracemalloc.is_tracing()
        finally:
            tracemalloc.stop()


class Hostile(Exception):
    def __str__(self):  # noqa: PLE0307
        while True:
            pass


class Unequal:
    def __eq__(self, other):
        raise SystemExit

    def __repr__(self):
        raise SystemExit

    __hash__ = None


class TestHostileAnswers:
    @pytest.mark.parametrize(
        "error", [KeyboardInterrupt, SystemExit, GeneratorExit, BaseException, Hostile, StopIteration]
    )
    def test_any_exception(self, error):
        def answer(text):
            raise error

        assert f"Raised {error.__name__}" in said(answer)

    def test_deep_recursion(self):
        def answer(text):
            return answer(text)

        assert "Raised RecursionError: the function calls itself too many times" in said(answer)

    def test_mutated_arguments_are_copies(self):
        def first(items):
            """The first item."""
            return items[0]

        def answer(items):
            first_item = items[0]
            items.clear()
            return first_item

        items = [1, 2]
        assert check_answer(outside_the_book("99.3", "First", first, lambda: [(items,)], ("",)), answer)[0]
        assert items == [1, 2]

    def test_output_and_input(self, capsys):
        def answer(text):
            for _ in range(1000):
                print("noise" * 100)
            sys.stdout.close()
            print("more", file=sys.stderr)
            sys.stdout = None
            return input("?")

        assert "Raised EOFError: input() can't be used here" in said(answer)
        assert capsys.readouterr() == ("", "")
        print("still here")
        assert capsys.readouterr().out == "still here\n"

    async def coroutine(text):
        return text + text

    def generator(text):
        yield text

    @pytest.mark.parametrize(
        ("answer", "got"),
        [
            (generator, "<a generator>"),
            (coroutine, "<a coroutine, as `async def` gives>"),
            (iter, "<an iterator>"),
            (lambda text: Unequal(), "<an object of the type Unequal>"),
            (lambda text: print, "<a function>"),
            (lambda text: str, "<a class>"),
            (lambda text: range(3), "<a range, range(0, 3)>"),
            (lambda text: 10**6000, "<a number of 19,932 bits>"),
        ],
    )
    def test_odd_results(self, answer, got):
        assert f"got       {got}" in said(answer)
        gc.collect()

    def test_a_list_in_itself(self):
        def answer(text):
            loop = []
            loop.append(loop)
            return loop

        assert "nested more than 50 deep" in said(answer)

    def test_a_result_with_too_many_parts(self):
        inner = []
        for _ in range(45):
            inner = [inner, inner]
        assert "more than 20,000 parts" in said(lambda text: inner)

    def test_warnings(self, recwarn):
        def answer(text):
            import warnings

            warnings.warn("beware", stacklevel=1)
            return text + text

        assert check_answer(DOUBLE, answer)[0]
        assert not recwarn

    def test_subclasses_count_as_what_they_inherit_from(self):
        Point = namedtuple("Point", "x y")
        Text = type("Text", (str,), {"__eq__": lambda self, other: True, "__hash__": str.__hash__})
        assert to_plain(Point(1, 2)) == (1, 2)
        assert to_plain(Counter("ab")) == {"a": 1, "b": 1}
        assert type(to_plain(Text("a"))) is str
        assert to_plain(bytearray(b"ab")) == b"ab"
        assert to_plain({frozenset({1})}) != {1}
        assert isinstance(to_plain(asyncio), Opaque)

    def test_numbers_of_other_types_are_numbers(self):
        Number = type("Number", (int,), {"__index__": lambda self: 7, "__eq__": lambda self, other: True})
        Share = type("Share", (float,), {"__float__": lambda self: 0.5})
        assert [type(to_plain(value)) for value in (Number(3), Share(2.5))] == [int, float]
        assert (to_plain(Number(3)), to_plain(Share(2.5))) == (3, 2.5)

    def test_what_can_not_be_compared_has_a_name(self):
        async def later():
            pass

        waiting, generator = later(), (letter for letter in "ab")
        named = {
            "a generator": generator,
            "a coroutine, as `async def` gives": waiting,
            "a range, range(0, 3)": range(3),
            "a class": Counter,
            "a function": len,
            "an iterator": iter([1]),
            "an object of the type object": object(),
        }
        for name, value in named.items():
            assert repr(to_plain([value])) == f"[<{name}>]"
            assert to_plain(value) != to_plain(value)
        assert next(generator, "closed") == "closed"
        with pytest.raises(RuntimeError, match="already"):
            waiting.send(None)

    def test_what_is_too_deep_or_too_large_has_a_name(self):
        deep = []
        for _ in range(60):
            deep = [deep]
        for value in (deep, [0] * 30_000, {"a": list(range(30_000))}):
            assert "more than 20,000 parts, or nested more than 50 deep" in repr(to_plain(value))

    def test_numpy(self):
        numpy = pytest.importorskip("numpy")
        assert to_plain([numpy.int64(3), numpy.array([1, 2])]) == [3, [1, 2]]

    def test_partial_and_callable_objects(self):
        from functools import partial

        assert check_answer(DOUBLE, partial(lambda extra, text: text + text, 1))[0]
        assert check_answer(DOUBLE, type("Doubler", (), {"__call__": lambda self, text: text * 2})())[0]
        assert "got" in said(len)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="sends itself a signal")
    def test_a_real_interrupt_ends_the_check(self):
        script = (
            "import os, signal\n"
            "from bpelab.exercises import check\n"
            "def answer(*arguments):\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
            "    return 1\n"
            "try:\n"
            "    check('training.1', answer)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
        )
        environment = os.environ | {"BPELAB_NO_PROGRESS": "1"}
        run = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
        )
        assert run.stdout == "interrupted True\n"

    def test_an_interrupt_of_ones_own_where_none_can_arrive(self):
        """Shells have what they run in the background ignore Ctrl-C."""

        def answer(*arguments):
            raise KeyboardInterrupt

        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            assert "KeyboardInterrupt" in said(answer)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        finally:
            signal.signal(signal.SIGINT, previous)

    def test_in_another_thread(self):
        from threading import Thread

        results = []
        thread = Thread(target=lambda: results.append(check_answer(DOUBLE, TestLimits.endless)))
        thread.start()
        thread.join()
        assert "Took too long" in repr(results[0][1])


class TestShrinking:
    def test_every_step_is_smaller(self):
        for start in ((b"ba", "xy"), ([3, [1]], {b"ab": 2}), (BPEModel.from_merges([(b"a", b"b"), (b"ab", b"c")]),)):
            seen, queue = set(), [start]
            while queue and len(seen) < 1_000:
                arguments = queue.pop()
                if code(arguments) not in seen:
                    seen.add(code(arguments))
                    queue += smaller_inputs(arguments)
            assert not queue, "shrinking comes to an end"

    def test_models_and_tables_stay_models_and_tables(self):
        model = BPEModel.from_merges([(b"a", b"b"), (b"ab", b"c"), (b"x", b"y")])
        assert [len(less.merges) for (less,) in smaller_inputs((model,))] == [2, 2]
        table = dict(model.ids)
        assert {len(less) for (less,) in smaller_inputs((table,))} == {258}
        ranked = BPEModel.from_ranks(table)
        assert all(len(less.tokens) == 258 for (less,) in smaller_inputs((ranked,)))

    def test_to_the_smallest(self):
        exercise = outside_the_book("99.4", "Long", len, lambda: [(b"the quick brown fox",)], ("",))
        text = said(lambda data: 0 if b"k" in data else len(data), exercise)
        assert "(b'k')" in text

    def test_only_allowed_inputs(self):
        inputs = [(b"abcdef",)]
        exercise = outside_the_book("99.5", "Long", len, lambda: inputs, ("",), is_valid=lambda data: len(data) > 2)
        assert "(b'aaa')" in said(lambda data: -1, exercise)

    def test_inputs_that_the_worked_answer_refuses(self):
        exercise = outside_the_book("99.6", "First", lambda data: data[0], lambda: [(b"abc",)], ("",))
        assert "(b'a')" in said(lambda data: -1, exercise)


def test_a_missing_package_is_named():
    def needs_more(text):
        import bpelab_has_no_such_package  # noqa: F401

    exercise = outside_the_book("99.7", "More", needs_more, lambda: [("a",)], ("",))
    assert "needs the package bpelab_has_no_such_package" in said(double, exercise)


class TestPublicFunctions:
    def test_unknown_exercises(self):
        for number in ("99.9", "training.77", "x", "", "4.1.1", 4.1, None):
            with pytest.raises(UnknownExerciseError, match="there is no exercise") as raised:
                check(number, None)
            assert isinstance(raised.value, (BPELabError, KeyError))
        with pytest.raises(KeyError, match=r"its chapter has training\.1, training\.2"):
            hint("training.77")

    def test_loading_is_lazy(self):
        script = "import sys, bpelab.exercises as e; print([m for m in sys.modules if '.chapters.' in m])"
        assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"
        script = (
            "import sys, bpelab.exercises as e; e.hint('encoding.1');"
            "print([m.rpartition('.')[2] for m in sys.modules if '.chapters.' in m], 'IPython' in sys.modules)"
        )
        assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "['encoding'] False"

    def test_names_stay_functions(self):
        check("training.1", None)
        assert all(callable(getattr(exercises, name)) for name in ("check", "hint", "solution", "progress"))

    def test_messages_are_the_same_in_print_and_html(self):
        message = Message("1 (x)", "note", ["Use `f` & g.", ("a < b", "c")])
        assert str(message) == "1 (x): Use `f` & g.\n    a < b\n    c"
        assert re.sub(r"<[^>]+>", "", message._repr_html_()) == "1 (x) Use f &amp; g.a &lt; b\nc"


class TestProgress:
    @pytest.fixture
    def home(self, tmp_path, monkeypatch) -> Path:
        monkeypatch.delenv("BPELAB_NO_PROGRESS")
        monkeypatch.setenv("BPELAB_HOME", str(tmp_path / "new" / "home"))
        return tmp_path / "new" / "home"

    def test_is_kept(self, home):
        check("training.1", lambda *arguments: 0)
        assert not home.exists()
        check("training.1", EXERCISES["training.1"].solution)
        assert json.loads((home / "progress.json").read_text()) == {"solved": ["training.1"]}
        record._solved.clear()
        assert "[x] training.1   [ ] training.2" in repr(progress())
        record.forget(["training.1"])
        assert "[ ] training.1" in repr(progress())

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "{",
            "[]",
            '{"solved": 3}',
            '{"solved": [1, null, {}]}',
            "[" * 100_000,
            "\0",
        ],
    )
    def test_a_damaged_file_is_no_obstacle(self, home, content):
        home.mkdir(parents=True)
        (home / "progress.json").write_text(content)
        assert "Right." in repr(check("training.1", EXERCISES["training.1"].solution))
        assert "[x] training.1" in repr(progress())

    def test_a_folder_that_cannot_be_written_is_no_obstacle(self, home):
        home.parent.mkdir()
        home.write_text("a file where the folder should be")
        assert "Right." in repr(check("training.1", EXERCISES["training.1"].solution))
        assert "[x] training.1" in repr(progress())

    def test_off(self, tmp_path, monkeypatch):
        monkeypatch.setenv("BPELAB_HOME", str(tmp_path))
        check("training.1", EXERCISES["training.1"].solution)
        assert not list(tmp_path.iterdir())
        text = repr(progress())
        assert text.startswith(f"Exercises: 1 of {len(EXERCISES)} solved. Progress is not kept here")

    @pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
    def test_places(self, platform, monkeypatch):
        monkeypatch.delenv("BPELAB_HOME", raising=False)
        monkeypatch.setattr(sys, "platform", platform)
        assert record.progress_file().parent.name == "bpelab"


def test_a_guard_leaves_everything_as_it_was():
    import builtins
    import signal

    before = builtins.input, signal.getsignal(signal.SIGINT), sys.stdout, sys.stderr
    with LimitedCall() as guard:
        assert guard.call(lambda: 5).value == 5
    assert (builtins.input, signal.getsignal(signal.SIGINT), sys.stdout, sys.stderr) == before
