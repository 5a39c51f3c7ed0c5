"""Rules on bit masks as a circuit, for blocks of any length.

The rules treat every bit alike, so they run on streams of bits as well as on integers. A shift to the left is a
register: it has the value of the character before. A shift to the right is what an automaton that reads the block from
its end knows about the characters that follow. Both have few states.
"""

from itertools import product

from bpelab.regex import bit_rules
from bpelab.regex.bit_rules import MEMBERS, Masks


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
        """Return what the values of `roots` at one character need, each node after its operands."""
        order, begun = [], set()

        def visit(number):
            if number in order:
                return
            assert number not in begun, "a run depends on itself at the same character"
            begun.add(number)
            kind, *operands = self.operations[number]
            for operand in operands if kind in ("and", "or", "not", "run") else ():
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
    """The circuit of a family's rules, evaluated for all of `chars`, and all that can follow them, at once.

    Attributes:
        before, after: the shifts to the left and to the right, as pairs of node and operand.
        rests: what is known about the characters that follow -> the shortest such characters.
        pairs: (a character, a rest), all there are.
        following: rest -> the numbers of the pairs that can come next.
    """

    def __init__(self, family, chars):
        self.circuit, self.chars = (circuit := Circuit()), chars
        classes = Masks(*[circuit.node("class", field) for field in Masks._fields])
        self.outputs = [stream.number for stream in bit_rules.rules(classes, family, circuit.fixpoint)]
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
