"""Write book.txt, the text on which the chapters train and encode.

The text is a chronicle of one year in Quillhaven, an invented harbour town:
diary entries from a small story grammar, with hand-written stories, letters,
lists, verses, snippets of source code, passages in other languages and pages
of typographic oddities between them. All of it was written for this book.

It is frozen: the chapters quote merges, counts and timings measured on exactly
these bytes, so book.txt is committed and is never edited by hand. It depends
on nothing but this script and the files in passages/. To remake it:

    python -m tools.make_book_text

With --check nothing is written, and the exit status is 1 if the committed
book.txt differs from what the script would write.

book.txt and the passages are published under CC BY 4.0.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random

DATA = Path(__file__).resolve().parents[1] / "bpelab" / "data"
PASSAGES = DATA / "passages"
BOOK = DATA / "book.txt"

SEED = 1907
YEAR = 2011
ENTRY_CHANCE = 0.8  # the share of the year's days that have an entry
TABLE_EVERY = 6  # every so many entries a small table ends the day

PROSE_FILES = ("stories", "letters", "lessons", "papers", "verses")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ONES = (
    "nought",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
)


# Chance: only rng.random() is used, whose stream Python keeps the same.


class Dice:
    """Choices that don't change between Python versions."""

    def __init__(self, seed):
        self._rng = Random(seed)
        self._decks = {}

    def chance(self, p):
        return self._rng.random() < p

    def between(self, low, high):
        """Return a whole number from low to high, both included."""
        return low + int((high - low + 1) * self._rng.random())

    def zipf(self, items):
        """Return an item, earlier ones more often, roughly by Zipf's law."""
        rank = int((len(items) + 1) ** self._rng.random()) - 1
        return items[min(rank, len(items) - 1)]

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = int((i + 1) * self._rng.random())
            items[i], items[j] = items[j], items[i]
        return items

    def deal(self, name, items):
        """Return an item from a shuffled deck, which is shuffled anew when empty."""
        deck = self._decks.setdefault(name, [])
        if not deck:
            deck.extend(self.shuffled(items))
        return deck.pop()


# Inflection.

VOWELS = "aeiou"


def _ends_in_consonant_y(word):
    return word.endswith("y") and word[-2] not in VOWELS


def with_s(word):
    """Return the plural of a regular noun, or the third person of a regular verb."""
    if _ends_in_consonant_y(word):
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word + "s"


def with_ending(word, ending, doubled=False):
    """Add -ed, -er, -est or -ing to a word."""
    if doubled:
        return word + word[-1] + ending
    if word.endswith("e"):
        keeps_e = ending == "ing" and word.endswith(("ye", "oe", "ee"))
        return (word if keeps_e else word[:-1]) + ending
    if _ends_in_consonant_y(word) and ending != "ing":
        return word[:-1] + "i" + ending
    return word + ending


@dataclass(frozen=True)
class Noun:
    one: str
    many: str

    @classmethod
    def parse(cls, text):
        one, _, many = text.partition(":")
        return cls(one, many or with_s(one))


@dataclass(frozen=True)
class Verb:
    base: str
    s: str
    ed: str
    en: str
    ing: str

    @classmethod
    def parse(cls, text):
        stem, *irregular = text.split(":")
        doubled = stem.endswith("+")
        base = stem.rstrip("+")
        ed = irregular[0] if irregular else with_ending(base, "ed", doubled)
        return cls(base, with_s(base), ed, irregular[-1] if irregular else ed, with_ending(base, "ing", doubled))


@dataclass(frozen=True)
class Adjective:
    plain: str
    er: str
    est: str

    @classmethod
    def parse(cls, text):
        doubled = text.endswith("+")
        plain = text.rstrip("+")
        return cls(plain, with_ending(plain, "er", doubled), with_ending(plain, "est", doubled))


def in_words(n):
    if n < 20:
        return ONES[n]
    tens, ones = divmod(n, 10)
    return TENS[tens] + (f"-{ONES[ones]}" if ones else "")


def fix_articles(text):
    """Write a or an, whichever the next word needs."""

    def article(match):
        word, following = match[1], match[2].lower()
        vowel = following[0] in VOWELS
        if following.startswith(("one", "once", "uni", "use", "usu", "eu", "ewe")):
            vowel = False
        if following.startswith(("hour", "honest", "honour", "heir")):
            vowel = True
        return f"{word[0]}{'n' if vowel else ''} {match[2]}"

    return re.sub(r"\b([Aa]n?) ([A-Za-z]+)", article, text)


# The vocabulary and the templates.


@dataclass(frozen=True)
class Person:
    full_name: str
    he: str
    him: str
    his: str

    @property
    def name(self):
        return self.full_name.split()[0]

    @property
    def surname(self):
        return self.full_name.split()[1]


@dataclass(frozen=True)
class Trade:
    name: str
    carried: bool
    at: list
    women: list
    men: list
    skilled: list
    others: list
    things: list
    verbs: list
    adjectives: list


def _words(line):
    return [word.strip() for word in line.split(",")]


def _content_lines(name):
    text = (PASSAGES / name).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line and not line.startswith("#")]


def read_vocabulary():
    trades, lists = [], {}
    lines = iter(_content_lines("vocabulary.txt"))
    for line in lines:
        kind, name = re.fullmatch(r"\[([\w, ]+)\] (.+)", line).groups()
        if kind == "list":
            lists[name] = _words(next(lines))
            continue
        rows = dict(next(lines).split(": ", 1) for _ in range(7))
        women, men = rows["cast"].split(" | ")
        trades.append(
            Trade(
                name=name,
                carried=kind == "trade",
                at=rows["at"].split(" | "),
                women=[Person(w, "she", "her", "her") for w in _words(women)],
                men=[Person(w, "he", "him", "his") for w in _words(men)],
                skilled=[Noun.parse(w) for w in _words(rows["skilled"])],
                others=[Noun.parse(w) for w in _words(rows["others"])],
                things=[Noun.parse(w) for w in _words(rows["things"])],
                verbs=[Verb.parse(w) for w in _words(rows["verbs"])],
                adjectives=_words(rows["adjectives"]),
            )
        )
    lists["animals"] = [Noun.parse(word) for word in lists["animals"]]
    for name in ("shortadjs", "personadjs", "weatheradjs"):
        lists[name] = [Adjective.parse(word) for word in lists[name]]
    return trades, lists


def read_templates():
    templates = {}
    for line in _content_lines("templates.txt"):
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            current = templates.setdefault(heading[1], [])
        else:
            current.append(line)
    return templates


# The story grammar.


class Entry:
    """One day of the chronicle: a trade, two people, two things, two verbs."""

    # Slots that pick afresh in every sentence: slot, list, form of the word.
    FORMS = {
        "weather": ("weatheradjs", "plain"),
        "weatherer": ("weatheradjs", "er"),
        "weatherest": ("weatheradjs", "est"),
        "person": ("personadjs", "plain"),
        "personer": ("personadjs", "er"),
        "personest": ("personadjs", "est"),
        "short": ("shortadjs", "plain"),
        "shorter": ("shortadjs", "er"),
        "shortest": ("shortadjs", "est"),
        "animal": ("animals", "one"),
        "animals": ("animals", "many"),
    }
    PLAIN = {
        "place": "places",
        "street": "streets",
        "town": "towns",
        "ship": "ships",
        "event": "events",
        "trouble": "troubles",
        "colour": "colours",
        "feeling": "feelings",
        "adverb": "adverbs",
        "when": "whens",
        "thingadj": "thingadjs",
        "said": "saids",
        "winds": "winds",
        "skies": "skies",
        "cargo": "cargo",
        "kin": "kin",
        "stuff": "stuff",
        "foods": "foods",
        "traits": "traits",
        "paths": "paths",
        "groups": "groups",
        "body": "bodies",
    }

    def __init__(self, dice, today, trade, lists, templates):
        self.dice, self.today, self.trade = dice, today, trade
        self.lists, self.templates = lists, templates
        self.a, self.b = dice.shuffled([dice.zipf(trade.women), dice.zipf(trade.men)])
        self.x, self.y = self._two(trade.things)
        self.v, self.w = self._two(trade.verbs)
        self.role, self.role2 = dice.zipf(trade.skilled), dice.zipf(trade.others)
        self.at, self.at2 = self._two(trade.at)

    def _two(self, items):
        first = self.dice.zipf(items)
        return first, self.dice.zipf([item for item in items if item != first])

    def sentence(self, kind):
        templates = self.templates[kind]
        if not self.trade.carried:
            templates = [t for t in templates if not t.startswith("* ")]
        deck = kind, self.trade.carried
        template = self.dice.deal(deck, templates).removeprefix("* ")
        picked = {}
        text = re.sub(r"\{(\w+)\}", lambda m: self._fill(m[1], picked), template)
        text = fix_articles(text)
        return text[0].upper() + text[1:]

    def _fresh(self, name, items, slot, picked):
        """Return a pick that's the same for a repeated slot, and else differs."""
        if (name, slot) not in picked:
            taken = [word for (n, _), word in picked.items() if n == name]
            picked[name, slot] = self.dice.zipf([w for w in items if w not in taken])
        return picked[name, slot]

    def _fill(self, slot, picked):
        fixed = self._fixed(slot)
        if fixed is not None:
            return fixed
        number = self._number(slot, picked)
        if number is not None:
            return number
        name, again = re.fullmatch(r"([a-z]+)(2?)", slot).groups()
        if name == "adj":
            return self._fresh("adj", self.trade.adjectives, again, picked)
        if name in self.PLAIN:
            plain = self.PLAIN[name]
            return self._fresh(plain, self.lists[plain], again, picked)
        listed, form = self.FORMS[name]
        word = self._fresh(listed, self.lists[listed], again, picked)
        return getattr(word, form)

    def _fixed(self, slot):
        a, b, v, w = self.a, self.b, self.v, self.w
        return {
            "A": a.name,
            "surname": a.surname,
            "he": a.he,
            "him": a.him,
            "his": a.his,
            "He": a.he.capitalize(),
            "His": a.his.capitalize(),
            "B": b.name,
            "he2": b.he,
            "today": self.today,
            "x": self.x.one,
            "xs": self.x.many,
            "y": self.y.one,
            "ys": self.y.many,
            "v": v.base,
            "vs": v.s,
            "ved": v.ed,
            "ven": v.en,
            "ving": v.ing,
            "w": w.base,
            "ws": w.s,
            "wed": w.ed,
            "wen": w.en,
            "wing": w.ing,
            "role": self.role.one,
            "roles": self.role.many,
            "role2": self.role2.one,
            "at": self.at,
            "at2": self.at2,
            "At": self.at[0].upper() + self.at[1:],
        }.get(slot)

    def _number(self, slot, picked):
        dice = self.dice
        makers = {
            "n": lambda: in_words(dice.between(2, 12)),
            "n2": lambda: in_words(dice.between(2, 19)),
            "n3": lambda: ORDINALS[dice.between(2, 11)],
            "N": lambda: in_words(dice.between(2, 29)).capitalize(),
            "big": lambda: in_words(dice.between(21, 99)),
            "big2": lambda: in_words(dice.between(21, 99)),
            "dig": lambda: str(dice.between(13, 399)),
            "dig2": lambda: str(dice.between(3, 48)),
            "bigdig": lambda: f"{dice.between(1100, 48999):,}",
            "tons": lambda: str(dice.between(8, 90) * 5),
            "hpa": lambda: str(dice.between(978, 1036)),
            "year": lambda: str(dice.between(1871, 2010)),
            "time": self._time,
            "tides": self._tides,
            "hour": self._hour,
            "hour2": self._hour,
            "price": self._price,
            "price2": self._price,
            "amount": self._amount,
            "amount2": self._amount,
            "date": lambda: f"{dice.between(1, 28)} {MONTHS[dice.between(0, 11)]}",
            "month": lambda: MONTHS[dice.between(0, 11)],
            "weekday": lambda: WEEKDAYS[dice.between(0, 6)],
            "weekday2": lambda: WEEKDAYS[dice.between(0, 6)],
        }
        if slot not in makers:
            return None
        key = "number", slot
        if key not in picked:
            earlier = picked.get(("number", slot.rstrip("2")))
            text = makers[slot]()
            while text == earlier:
                text = makers[slot]()
            picked[key] = text
        return picked[key]

    def _time(self):
        return f"{self.dice.between(0, 23):02d}:{self.dice.between(0, 59):02d}"

    def _tides(self):
        """Return the times of high water, and of low water some six hours later."""
        high = self.dice.between(0, 17 * 60)
        low = high + self.dice.between(355, 389)
        metres = self.dice.between(41, 68) / 10
        return (
            f"High water at {high // 60:02d}:{high % 60:02d}, {metres:.1f} metres; "
            f"low water at {low // 60:02d}:{low % 60:02d}."
        )

    def _hour(self):
        hour = in_words(self.dice.between(1, 12))
        before = ("", "half past ", "a quarter to ", "a quarter past ", "ten to ", "twenty past ", "five past ")
        start = self.dice.zipf(before)
        return start + hour if start else f"{hour} o'clock"

    def _amount(self):
        return f"{self.dice.between(0, 19)}.{self.dice.between(1, 19) * 5:02d}"

    def _price(self):
        if self.dice.chance(0.5):
            return f"{self._amount()} crowns"
        crowns = self.dice.between(2, 40)
        return f"{in_words(crowns)} crowns"

    def table(self):
        """Return a few lines of accounts."""
        lines = [f"In the ledger of the {self.trade.name}:"]
        total = 0
        for thing in self.dice.shuffled(self.trade.things)[: self.dice.between(3, 5)]:
            count = self.dice.between(2, 60)
            pence = self.dice.between(2, 150) * 5
            total += count * pence
            lines.append(f"    {count:>3}  {thing.many:<20} at {pence / 100:>5.2f}  {count * pence / 100:>8.2f}")
        lines.append(f"    {'':>3}  {'total':<20}    {'':>5}  {total / 100:>8.2f}")
        return "\n".join(lines)

    def text(self, with_table):
        dice = self.dice
        first = [self.sentence("opening"), self.sentence("arrival")]
        first += [self.sentence("action") for _ in range(dice.between(1, 2))]
        second = [self.sentence("turn" if dice.chance(0.6) else "trade")]
        second += [self.sentence("action") for _ in range(dice.between(0, 2))]
        second.append(self.sentence("closing"))
        paragraphs = [" ".join(first)]
        paragraphs += [self.sentence("talk") for _ in range(dice.between(1, 2))]
        paragraphs.append(" ".join(second))
        if with_table:
            paragraphs.append(self.table())
        return "\n\n".join(paragraphs)


def chronicle(dice):
    """Return the entries of the year, each with its date."""
    trades, lists = read_vocabulary()
    templates = read_templates()
    day, entries, recent = date(YEAR, 1, 1), [], []
    while day.year == YEAR:
        if dice.chance(ENTRY_CHANCE):
            trade = dice.zipf([t for t in trades if t not in recent])
            recent = [*recent[-3:], trade]
            weekday = WEEKDAYS[day.weekday()]
            entry = Entry(dice, weekday, trade, lists, templates)
            text = entry.text(with_table=len(entries) % TABLE_EVERY == TABLE_EVERY - 1)
            heading = f"{weekday}, {day.day} {MONTHS[day.month - 1]}"
            entries.append((day, f"{heading}\n\n{text}"))
        day += timedelta(days=1)
    return entries


# The hand-written pieces, and the whole.


def read_pieces(name):
    """Return the pieces of one file of passages; a line '%% name' begins each."""
    text = (PASSAGES / f"{name}.txt").read_text(encoding="utf-8")
    pieces = re.split(r"^%% [\w-]+\n", text, flags=re.MULTILINE)[1:]
    return [piece.strip("\n") for piece in pieces]


def unescape(text):
    r"""Turn \uXXXX into the character, in pieces that editors would tidy."""
    return re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), text)


def spread(pieces, length, offset):
    """Return positions for the pieces, evenly spaced over the entries."""
    return [(int((i + offset) * length / len(pieces)), piece) for i, piece in enumerate(pieces)]


def build():
    """Return the whole text, as one string."""
    dice = Dice(SEED)
    entries = chronicle(dice)
    prose = dice.shuffled(p for name in PROSE_FILES for p in read_pieces(name))
    code = dice.shuffled(read_pieces("code"))
    languages = dice.shuffled(read_pieces("languages"))
    oddities = [unescape(piece) for piece in read_pieces("oddities")]

    pieces = {}
    for group, offset in ((prose, 0.5), (code, 0.3), (languages, 0.8), (oddities, 0.4)):
        for place, piece in spread(group, len(entries), offset):
            pieces.setdefault(place, []).append(piece)

    parts, month = ["A Quillhaven Year"], 0
    for number, (day, entry) in enumerate(entries):
        if day.month != month:
            month = day.month
            parts.append(f"Chapter {in_words(month).capitalize()}: {MONTHS[month - 1]}")
        parts.append(entry)
        parts += pieces.get(number, [])
    return "\n\n".join(parts) + "\n"


def main(argv=None):
    parser = argparse.ArgumentParser(description="Write the frozen book text.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if book.txt is out of date")
    args = parser.parse_args(argv)
    data = build().encode("utf-8")
    if args.check:
        return int(not BOOK.exists() or BOOK.read_bytes() != data)
    BOOK.write_bytes(data)
    print(f"{BOOK}: {len(data):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
