"""A proof that the rules of `bit_rules.py` find the pieces that an automaton finds, in blocks of any length.

It goes through all that texts can lead to: registers of the rules' circuit (`bit_streams.py`), what follows, and the
state of the pattern's automaton. There are some hundreds of such combinations. In none may the rules and the automaton
disagree on whether a piece starts; so they never do.
"""

from bpelab.regex import bit_rules
from bpelab.regex.bit_rules import MEMBERS, masks_of

from .bit_streams import Machine

CHARS = [chr(code) for code in range(128)]
ROW = len(CHARS) + 1
"""Bytes of a state in `ascii_automaton`; the last is for the end of the text."""
END, START = 0, 1


def distinct_chars(automaton):
    """Return one character for each kind that the automaton or the rules tell apart."""
    columns = {char: automaton[ord(char) :: ROW] for char in CHARS}
    return list({(columns[char], *(char in members for members in MEMBERS)): char for char in CHARS}.values())


def advance(automaton, state, char):
    """Return (whether a match ends before `char`, the next state)."""
    step = automaton[state * ROW + ord(char)]
    return step & 1, step >> 1


def matches_at_the_end(automaton, state):
    return automaton[state * ROW + ROW - 1] & 1


def after_char(automaton, search, over, starts, undecided, char):
    """Return the next (search, over, undecided), or None if the rules are wrong; they are as in `counterexample`."""
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
    machine = Machine(family, distinct_chars(automaton))
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
