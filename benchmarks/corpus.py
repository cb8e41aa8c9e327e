"""A made-up but lifelike body of facts, the same on every machine, and questions about it.

Fact number `i` depends on nothing but `i`, so that every process can make the stretch it needs.
Things come with several facts each (an order has a status, a carrier, a note ...), arrive a little
mixed up, and no two facts share an address. Words are used the way words are: a few of them
everywhere, most of them hardly ever.
"""

from __future__ import annotations

import random
import re
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate, count
from typing import NamedTuple

SEED = 20260117
QUESTIONS = 60
_BLOCK = 1_000
_STRIDE = 387  # has no factor in common with the block, so every place is hit once


class Fact(NamedTuple):
    """One fact, and the single line of text that stands for it where only text is stored."""

    number: int
    subject: str | None
    key: str
    value: str
    question: str

    @property
    def text(self) -> str:
        about = f"{self.subject} " if self.subject else ""
        return f"{about}{self.key.replace('_', ' ').replace('.', ' ')}: {self.value}"


def facts(start: int, stop: int) -> Iterator[Fact]:
    """The facts from number `start` up to, but without, number `stop`."""
    return (fact(number) for number in range(start, stop))


def fact(number: int) -> Fact:
    """Fact number `number`."""
    block, place = divmod(number, _BLOCK)
    mixed = block * _BLOCK + (place * _STRIDE + 13) % _BLOCK
    thing, attribute = divmod(mixed, _ATTRIBUTES)
    index, kind = divmod(thing, len(_KINDS))
    return _KINDS[kind](number, index, attribute, random.Random(SEED + number))


def questions(size: int) -> list[Fact]:
    """The facts that are asked about when the first `size` of them are stored."""
    chosen = random.Random(SEED + size).sample(range(size), min(QUESTIONS, size))
    return [fact(number) for number in chosen]


def further_questions(size: int) -> list[Fact]:
    """As many others, for whoever needs questions that were not asked before."""
    asked = {one.number for one in questions(size)}
    chosen = random.Random(SEED - size).sample(range(size), min(2 * QUESTIONS, size))
    return [fact(number) for number in chosen if number not in asked][:QUESTIONS]


def anew(question: str, request: object) -> str:
    """A question as nobody has asked it before: its terms and its vector are not yet known."""
    return f"{question} (request {request})"


def distinct() -> Iterator[Fact]:
    """Facts without end, no two of which say the same even if numbers and names were left out."""
    said = set()
    for number in count():
        found = fact(number)
        told = (found.key.rpartition(".")[2], re.sub(r"[\W\d]+", " ", found.value).strip().lower())
        if told[1] and told not in said:
            said.add(told)
            yield found


# words


def _words(text: str) -> list[str]:
    return text.split()


def _skewed(words: str, choose: random.Random) -> str:
    """One of some words: the first twice as often as the second, and so on down."""
    listed = _LISTED.get(words)
    if listed is None:
        split = _words(words)
        weights = list(accumulate(1 / rank for rank in range(1, len(split) + 1)))
        listed = _LISTED[words] = (split, weights)
    split, weights = listed
    return split[bisect(weights, choose.random() * weights[-1])]


_LISTED: dict[str, tuple[list[str], list[float]]] = {}

_FIRST = _words(
    "Maria James Aisha Wei Olga Carlos Priya Thomas Fatima Kenji Elena David Amara Lukas Sofia "
    "Omar Ingrid Mateo Yuki Hannah Kwame Chloe Ravi Nadia Peter Leila Bruno Freya Samuel Mei Anton "
    "Zara Hugo Ifeoma Tomas Greta Arjun Lucia Viktor Naomi Felix Samira Joel Astrid Diego Miriam "
    "Pavel Rosa Idris Clara"
)
_LAST = _words(
    "Okafor Smith Nguyen Garcia Kowalski Tanaka Mueller Haddad Silva Johansson Patel Rossi Dubois "
    "Ivanov Mensah Kim Novak Fernandez Larsen Khan Moreau Petrov Costa Weber Ahmed Lindqvist Sato "
    "Jansen Oyelaran Brandt Castillo Walsh Horvat Demir Park Fischer Romero Abebe Olsen Zhang "
    "Marino Keller Bianchi Murphy Sokolov Vargas Dahl Rahman Pereira Stone"
)
_CITIES = (
    "London Berlin Madrid Lagos Toronto Singapore Mumbai Chicago Sydney Lisbon Nairobi Warsaw "
    "Denver Osaka Dublin Vienna Bogota Helsinki Austin Prague Leeds Porto Hamburg Quito Tampere"
)
_ADJECTIVES = (
    "new final late small main open urgent blue heavy quiet early spare annual local broken cheap "
    "frozen remote senior fragile hollow polished amber crooked"
)
_NOUNS = (
    "team report invoice budget meeting contract server delivery customer review ticket release "
    "backup warehouse supplier schedule laptop licence cable pump corridor harvest ledger kettle "
    "turbine archive orchard trellis gasket sextant"
)
_VERBS = (
    "needs has checks sends moves holds replaces covers delays signs repairs approves follows "
    "rejects stores counts borrows polishes escorts"
)
_JOINS = "with for before after from without near under against beyond"
_ENDINGS = "until further notice|as agreed last week|according to the plan|in the usual way|by hand"
_SYLLABLES = _words(
    "ka ve lo mi ra tu ne so fi da bel cor dan fen gal hol jas kin lum mor nax orv pel quin ros "
    "syl tam ulm vex wyn yor zel"
)


def _coined(choose: random.Random) -> str:
    """A name nobody else has, nearly: the long tail of real text."""
    return "".join(choose.choices(_SYLLABLES, k=choose.choice((2, 3, 3)))).capitalize()


def _clause(choose: random.Random) -> str:
    name = f" {_coined(choose)}" if choose.random() < 0.4 else ""
    return (
        f"the {_skewed(_ADJECTIVES, choose)} {_skewed(_NOUNS, choose)}{name} "
        f"{_skewed(_VERBS, choose)} the {_skewed(_NOUNS, choose)}"
    )


def _note(choose: random.Random) -> str:
    """A remark of six to twenty-five words."""
    parts = [_clause(choose)]
    more = choose.choice((0, 0, 1, 1, 2))
    parts += [f"{_skewed(_JOINS, choose)} {_clause(choose)}" for _ in range(more)]
    if choose.random() < 0.3:
        parts.append(choose.choice(_ENDINGS.split("|")))
    text = " ".join(" ".join(parts).split()[:25])
    return text[0].upper() + text[1:]


def _date(choose: random.Random) -> str:
    return f"2026-{choose.randint(1, 12):02}-{choose.randint(1, 28):02}"


# kinds of thing: each has the same number of facts

Made = Callable[[random.Random], str]


class _Attribute(NamedTuple):
    key: str
    value: Made
    question: str


_ATTRIBUTES = 8

_PERSON = (
    _Attribute("city", lambda c: _skewed(_CITIES, c), "Which city does {} live in?"),
    _Attribute("employer", lambda c: f"{_coined(c)} Ltd", "Who does {} work for?"),
    _Attribute("phone", lambda c: f"+44 20 {c.randint(10**7, 10**8 - 1)}", "How do I call {}?"),
    _Attribute(
        "diet",
        lambda c: _skewed("vegetarian none vegan halal gluten-free kosher", c),
        "Does {} have a special diet?",
    ),
    _Attribute(
        "preference.seat", lambda c: _skewed("aisle window", c), "Which seat does {} like to have?"
    ),
    _Attribute(
        "preference.contact",
        lambda c: f"{_skewed('email phone chat letter', c)}, {_skewed('mornings evenings', c)}",
        "How and when would {} rather be contacted?",
    ),
    _Attribute("manager", lambda c: f"{c.choice(_FIRST)} {c.choice(_LAST)}", "Who is {}'s boss?"),
    _Attribute("note", _note, "What should I remember about {}?"),
)
_ORDER = (
    _Attribute(
        "status",
        lambda c: _skewed("shipped approved pending delivered cancelled returned disputed", c),
        "What is the status of {}?",
    ),
    _Attribute("carrier", lambda c: f"{_coined(c)} Freight", "Which carrier takes {}?"),
    _Attribute(
        "total", lambda c: f"${c.randint(20, 90_000):,}.{c.randint(0, 99):02}", "How much is {}?"
    ),
    _Attribute("delivery_date", _date, "When will {} arrive?"),
    _Attribute(
        "ship_to",
        lambda c: f"{c.randint(1, 400)} {_coined(c)} Street, {_skewed(_CITIES, c)}",
        "Where should we ship {}?",
    ),
    _Attribute(
        "items",
        lambda c: f"{c.randint(2, 90)} × {_skewed(_NOUNS, c)} {_coined(c)}",
        "What is in {}?",
    ),
    _Attribute("placed_by", lambda c: f"{c.choice(_FIRST)} {c.choice(_LAST)}", "Who placed {}?"),
    _Attribute("note", _note, "Is there anything to watch out for with {}?"),
)
_PROJECT = (
    _Attribute("deadline", _date, "When is {} due?"),
    _Attribute("budget", lambda c: f"${c.randint(5, 900)},000", "What may {} cost at most?"),
    _Attribute(
        "owner", lambda c: f"{c.choice(_FIRST)} {c.choice(_LAST)}", "Who is responsible for {}?"
    ),
    _Attribute(
        "phase", lambda c: _skewed("build design test discovery paused done", c), "How far is {}?"
    ),
    _Attribute("risk", _note, "What could go wrong with {}?"),
    _Attribute("goal", _note, "What is {} supposed to achieve?"),
    _Attribute(
        "language",
        lambda c: _skewed("Python Go Rust Java Kotlin Elixir", c),
        "What is {} written in?",
    ),
    _Attribute("decision", _note, "What was decided about {}?"),
)
_SERVER = (
    _Attribute(
        "os",
        lambda c: f"{_skewed('Debian Ubuntu Alpine Fedora', c)} {c.randint(8, 24)}",
        "What does {} run on?",
    ),
    _Attribute(
        "ip",
        lambda c: ".".join(str(c.randint(1, 254)) for _ in range(4)),
        "What is the address of {}?",
    ),
    _Attribute("memory", lambda c: f"{2 ** c.randint(2, 9)} GB", "How much RAM is in {}?"),
    _Attribute("state", lambda c: _skewed("up up draining down rebooting", c), "Is {} working?"),
    _Attribute(
        "region",
        lambda c: f"{_skewed('eu us ap sa', c)}-{_skewed('west east', c)}-{c.randint(1, 4)}",
        "Where is {} hosted?",
    ),
    _Attribute(
        "on_call",
        lambda c: f"{c.choice(_FIRST)} {c.choice(_LAST)}",
        "Whom do I page when {} fails?",
    ),
    _Attribute("last_incident", _note, "What happened to {} most recently?"),
    _Attribute("patched", _date, "When did {} get its last update?"),
)
_APPOINTMENT = (
    _Attribute("date", _date, "What day is {}?"),
    _Attribute(
        "time",
        lambda c: f"{c.randint(8, 18):02}:{c.choice((0, 15, 30, 45)):02}",
        "At what hour is {}?",
    ),
    _Attribute(
        "place", lambda c: f"{_coined(c)} House, {_skewed(_CITIES, c)}", "Where does {} take place?"
    ),
    _Attribute("with", lambda c: f"{c.choice(_FIRST)} {c.choice(_LAST)}", "Whom do I meet at {}?"),
    _Attribute("topic", _note, "What is {} about?"),
    _Attribute(
        "length", lambda c: f"{c.choice((15, 30, 45, 60, 90))} minutes", "How long will {} take?"
    ),
    _Attribute(
        "bring",
        lambda c: f"the {_skewed(_NOUNS, c)} and the {_skewed(_NOUNS, c)} {_coined(c)}",
        "What do I need to take along to {}?",
    ),
    _Attribute("confirmed", lambda c: _skewed("yes no tentatively", c), "Is {} settled?"),
)


def _person(number: int, index: int, attribute: int, choose: random.Random) -> Fact:
    rest, first = divmod(index, len(_FIRST))
    middle, last = divmod(rest, len(_LAST))
    initial = f" {chr(ord('A') + (middle - 1) % 26)}." if middle else ""
    name = f"{_FIRST[first]}{initial} {_LAST[last]}"
    told = _PERSON[attribute]
    return Fact(number, name, told.key, told.value(choose), told.question.format(name))


def _numbered(
    attributes: tuple[_Attribute, ...], key: str, name: str, first: int
) -> Callable[[int, int, int, random.Random], Fact]:
    def made(number: int, index: int, attribute: int, choose: random.Random) -> Fact:
        told = attributes[attribute]
        return Fact(
            number,
            None,
            f"{key.format(first + index)}.{told.key}",
            told.value(choose),
            told.question.format(name.format(first + index)),
        )

    return made


_KINDS: tuple[Callable[[int, int, int, random.Random], Fact], ...] = (
    _person,
    _numbered(_ORDER, "order_{}", "order {}", 8000),
    _numbered(_PROJECT, "project_{}", "project {}", 100),
    _numbered(_SERVER, "server_{}", "server {}", 10),
    _numbered(_APPOINTMENT, "appointment_{}", "appointment {}", 2000),
)
