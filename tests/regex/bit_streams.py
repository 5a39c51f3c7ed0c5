"""A proof that rules on bit masks find an automaton's pieces in blocks of any length.

The rules treat every bit alike, so they run on streams of bits as well, and become a circuit. A shift to the left is a
register: it has the value of the character before. A shift to the right is what an automaton that reads the block from
its end knows about the characters that follow. Both have few states. So the proof goes through all that texts can lead
to: registers, what follows, and the state of the pattern's automaton. There are some hundreds or thousands of such
combinations, and in none may the rules and the automaton disagree on whether a piece starts.
"""

from itertools import product

from bpelab.regex import bit_rules
from bpelab.regex.bit_rules import MEMBERS, Masks, masks_of

CHARS = [chr(code) for code in range(128)]
ROW = len(CHARS) + 1
"""Bytes of a state in `ascii_automaton`; the last is for the end of the text."""
END, START = 0, 1


class Circuit:
    """The nodes of rules that run on streams: each an operation and its operands."""

    def __init__(self):
        self.nodes, self.operations = {}, []

    def node(self, *operation):
        """Return the node of an operation: one for all that are equal."""
        if operation not in self.nodes:
            self.nodes[operation] = Stream(self, len(self.operations))
            self.operations.append(operation)
        return self.nodes[operation]

    def fixpoint(self, function):
        """Run `function` on a stream that will be its result."""
        run = self.node("run", len(self.operations))
        self.operations[run.number] = ("run", function(run).number)
        return run

    def sorted(self, roots):
        """Return what `roots` need, each node after its operands; registers and what follows are given."""
        order, begun = [], set()

        def visit(number):
            kind, *operands = self.operations[number]
            if number in order or kind not in ("and", "or", "not", "run"):
                return
            assert number not in begun, "a run depends on itself at the same place"
            begun.add(number)
            for operand in operands:
                visit(operand)
            order.append(number)

        for root in roots:
            visit(root)
        return order


class Stream:
    """A mask of a block of any length."""

    def __init__(self, circuit, number):
        self.circuit, self.number = circuit, number

    def __and__(self, other):
        return self.circuit.node("and", self.number, other.number)

    def __or__(self, other):
        return self.circuit.node("or", self.number, other.number)

    def __invert__(self):
        return self.circuit.node("not", self.number)

    def __lshift__(self, count):
        return self.circuit.node("before", self.number) << count - 1 if count else self

    def __rshift__(self, count):
        return self.circuit.node("after", self.number) >> count - 1 if count else self


class Machine:
    """The circuit of a family's rules, evaluated for all characters, and all that can follow them, at once."""

    def __init__(self, family, automaton):
        self.circuit = circuit = Circuit()
        classes = Masks(*[circuit.node("class", field) for field in Masks._fields])
        self.outputs = [stream.number for stream in bit_rules.rules(classes, family, circuit.fixpoint)]
        kinds = {(column(automaton, char), *(char in members for members in MEMBERS)): char for char in CHARS}
        self.chars = list(kinds.values())
        self.before = [(n, op[1]) for n, op in enumerate(circuit.operations) if op[0] == "before"]
        self.after = [(n, op[1]) for n, op in enumerate(circuit.operations) if op[0] == "after"]
        self.ahead_order = circuit.sorted([operand for _, operand in self.after])
        assert not {n for n, _ in self.before} & set(self.ahead_order), "what follows depends on what came before"
        self._read_from_the_end()
        self.order = circuit.sorted([*self.outputs, *(operand for _, operand in self.before)])
        self.memo = {}

    def _read_from_the_end(self):
        """Find all values that the shifts to the right can have, and by which characters, from the end of the block."""
        nothing = (0,) * len(self.after)
        assert self._values("", nothing) == nothing, "a shift to the right brings in ones"
        self.rests, self.leading = {nothing: ""}, {}
        for rest in (waiting := [nothing]):
            for char in self.chars:
                longer = self._values(char, rest)
                self.leading.setdefault(longer, []).append((char, rest))
                if longer not in self.rests:
                    self.rests[longer] = char + self.rests[rest]
                    waiting.append(longer)
        self.pairs = list(product(self.chars, self.rests))
        numbers = {pair: number for number, pair in enumerate(self.pairs)}
        self.following = {rest: [numbers[pair] for pair in self.leading.get(rest, ())] for rest in self.rests}
        self.given = {
            number: sum(1 << i for i, (_, rest) in enumerate(self.pairs) if rest[which])
            for which, (number, _) in enumerate(self.after)
        }
        for number, (kind, *operands) in enumerate(self.circuit.operations):
            if kind == "class":
                members = getattr(MEMBERS, operands[0])
                self.given[number] = sum(1 << i for i, (char, _) in enumerate(self.pairs) if char in members)

    def _values(self, char, rest):
        """Return the value of each shift to the right just before `char` ("" for none) and what follows it."""
        given = {number: bit for (number, _), bit in zip(self.after, rest)}
        for number, (kind, *operands) in enumerate(self.circuit.operations):
            if kind == "class":
                given[number] = int(char != "" and char in getattr(MEMBERS, operands[0]))
        values = self._evaluate(self.ahead_order, given, 1)
        return tuple(values[operand] for _, operand in self.after)

    def _evaluate(self, order, given, ones):
        values = dict(given)
        for number in order:
            kind, *operands = self.circuit.operations[number]
            if kind == "and":
                values[number] = values[operands[0]] & values[operands[1]]
            elif kind == "or":
                values[number] = values[operands[0]] | values[operands[1]]
            elif kind == "not":
                values[number] = ones ^ values[operands[0]]
            elif kind == "run":
                values[number] = values[operands[0]]
        return values

    def step(self, registers):
        """Return, for each pair of a character and a rest: (whether a piece starts, is undecided, the registers)."""
        if registers not in self.memo:
            ones = (1 << len(self.pairs)) - 1
            given = self.given | {number: ones * bit for (number, _), bit in zip(self.before, registers)}
            values = self._evaluate(self.order, given, ones)
            starts, undecided = (values[output] for output in self.outputs)
            operands = [values[operand] for _, operand in self.before]
            self.memo[registers] = [
                (starts >> i & 1, undecided >> i & 1, tuple([value >> i & 1 for value in operands]))
                for i in range(len(self.pairs))
            ]
        return self.memo[registers]


def column(automaton, char):
    return automaton[ord(char) :: ROW]


def advance(automaton, state, char):
    """Return (whether a match ends before `char`, the next state)."""
    step = automaton[state * ROW + ord(char)]
    return step & 1, step >> 1


def matches_at_the_end(automaton, state):
    return automaton[state * ROW + ROW - 1] & 1


def after_char(automaton, search, over, starts, undecided, char):
    """Return the next (search, over, undecided), or None if the rules are wrong; the arguments are as in `prove`."""
    passed = [advance(automaton, state, char) for state in over]
    if any(matched for matched, _ in passed):
        return None
    over = {state for _, state in passed}
    if undecided:
        return None, frozenset(over - {END}), True
    matched, following = advance(automaton, search, char) if search is not None else (1, END)
    if starts:
        if not matched:
            return None
        over.add(following)
        _, following = advance(automaton, START, char)
    return (following, frozenset(over - {END}), False) if following else None


def counterexample(family, automaton):
    """Return a short text for which the rules are wrong, or None: then there is none at all.

    A state has the registers, what follows, and three more: the state of the search for the piece's end (None before
    the text), those of searches that must find no later end than the rules did, and whether the rules have given up.
    """
    machine = Machine(family, automaton)
    first = ((0,) * len(machine.before), None, None, frozenset(), False)
    origins = {first: ""}
    for state in (waiting := [first]):
        registers, rest, search, over, undecided = state
        steps = machine.step(registers)
        for number in range(len(machine.pairs)) if rest is None else machine.following[rest]:
            char, then = machine.pairs[number]
            starts, unknown, next_registers = steps[number]
            reached = after_char(automaton, search, over, starts, undecided or unknown, char)
            if reached is not None and not any(then):  # the block may end here
                search_then, over_then, undecided_then = reached
                if over_then or not (undecided_then or matches_at_the_end(automaton, search_then)):
                    reached = None
            text = origins[state] + char
            if reached is None:
                return text + machine.rests[then]
            new = (next_registers, then, *reached)
            if new not in origins and (reached[1] or not reached[2]):
                origins[new] = text
                waiting.append(new)
    return None


def is_wrong(text, family, automaton):
    """Whether what the rules say of a block isn't so: a check of the proof, with integers and a search a piece."""
    mask, decided = bit_rules.starts(masks_of(text), family)
    if decided and not mask & 1:
        return True
    ends = [at for at in range(1, decided) if mask >> at & 1] + [len(text)] * (decided == len(text))
    begin = 0
    for end in ends:
        state, last = START, None
        for at, char in enumerate(text[begin:], begin):
            matched, state = advance(automaton, state, char)
            last = at if matched else last
        if end < len(text) and (last != end or state != END):
            return True
        if end == len(text) and not matches_at_the_end(automaton, state):
            return True
        begin = end
    state = START
    for char in text[begin:decided]:
        state = advance(automaton, state, char)[1]
    return state == END
