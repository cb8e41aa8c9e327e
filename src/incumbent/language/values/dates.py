"""Reading dates: what each form of the data file means, seen from the day on which it was said.

Rules of thumb that people share: a day without a year is the next one of that name, unless it has
just been; "Friday" is the coming one, "next Friday" that of next week, "last Friday" the one
before today; the fourth is the next fourth. Without a moment to count from, a relative phrase
stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from incumbent.language.values import almanac
from incumbent.language.values.sentence import Sentence

Reader = Callable[[re.Match[str], Sentence], str | None]

_NUMERIC = re.compile(
    r"(?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ](?P<clock>[0-2][0-9]:[0-5][0-9])(?::[0-9]{2})?"
    r"(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![\w/-])"
    r"|(?P<year_first>[0-9]{4})/(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})(?![\w/-])"
    r"|(?P<a>[0-9]{1,2})(?P<by>[/.-])(?P<b>[0-9]{1,2})(?P=by)(?P<year>[0-9]{4}|[0-9]{2})(?![\w/.-]\w)"
    r"|(?P<a2>[0-9]{1,2})/(?P<b2>[0-9]{1,2})(?![\w/%-])"
)
_PARTS_OF_ONE = (2, 3, 4, 5, 8, 10, 16)
_AROUND_THE_CLOCK = ("24", "7")


def number_of(said: re.Match[str], sentence: Sentence, name: str, group: str = "") -> int:
    """The number that a word of a class stands for."""
    return int(sentence.vocabulary.meaning(name, said[group or name]))


def today_of(sentence: Sentence) -> date | None:
    return sentence.at.date() if sentence.at else None


def kept(said: re.Match[str]) -> str:
    """A phrase that stays what it is, in lower case."""
    text = said["said"] if "said" in said.re.groupindex else said.group()
    return " ".join(text.lower().split())


def from_today(read: Callable[[re.Match[str], Sentence, date], str | None]) -> Reader:
    """A reader of what is seen from the day on which it was said. Without that day a phrase stays
    what it is."""

    def reader(said: re.Match[str], sentence: Sentence) -> str | None:
        today = today_of(sentence)
        return kept(said) if today is None else read(said, sentence, today)

    return reader


# days of months


def month_day(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "March 2nd", "Monday, 2 March 2026"."""
    if _is_verb(said, sentence):
        return None
    return _month_day(said, sentence, "day")


def month_days(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "March 2-5", "the 2nd to the 5th of March"; not "March 2 - 4 people"."""
    if _day(said["day"], sentence) >= _day(said["day2"], sentence):
        return None
    ends_open = said.start("month") < said.start("day") and not said["year"]
    if ends_open and said["day2"].isdigit() and sentence.is_followed_by_noun(said.end()):
        return None
    first, last = _month_day(said, sentence, "day"), _month_day(said, sentence, "day2")
    return f"{first}{almanac.RANGE}{last}" if first and last else None


def _month_day(said: re.Match[str], sentence: Sentence, name: str) -> str | None:
    month, day = number_of(said, sentence, "month"), _day(said[name], sentence)
    year = int(said["year"]) if said["year"] else None
    return _spell_day(month, day, year, today_of(sentence))


def _is_verb(said: re.Match[str], sentence: Sentence) -> bool:
    """Whether "may 2 people" or "march 10 miles" was read as a day."""
    verbs = sentence.vocabulary.words("month_verbs")
    if said["month"] not in verbs or said.start("month") > said.start("day"):
        return False
    plain = said["day"].isdigit() and not said["year"] and not said["weekday"]
    return plain and sentence.is_followed_by_noun(said.end())


def _day(said: str, sentence: Sentence) -> int:
    figures = re.match(r"[0-9]+", said)
    if figures:
        return int(figures.group())
    return int(sentence.vocabulary.meaning("ordinal", said.lower().replace(" ", "-")))


def _spell_day(month: int, day: int, year: int | None, today: date | None) -> str | None:
    try:
        date(year or 2024, month, day)  # 2024 has every day there is
    except ValueError:
        return None
    if year is None and today is not None:
        found = almanac.with_year(month, day, today)
        return found.isoformat() if found else None
    return f"{year or 'XXXX'}-{month:02}-{day:02}"


@from_today
def day_of_month(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "the 4th of this month"."""
    day, first = _day(said["day_th"] or said["ordinal"], sentence), today.replace(day=1)
    if said["which"]:
        first = almanac.months_on(first, number_of(said, sentence, "which"))
    return first.replace(day=day).isoformat()


def the_day(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "on the 2nd", but not "the 2nd floor"."""
    if sentence.is_followed_by_noun(said.end()):
        return None
    after = sentence.word_after(said.end())
    if after in sentence.vocabulary.words("stand_ins") | sentence.vocabulary.words("of"):
        return None
    return _next_day(_day(said["day_th"], sentence), sentence) or kept(said)


def weekday_the(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "Friday the 13th"."""
    day = _day(said["day_th"], sentence)
    return _next_day(day, sentence) or f"XXXX-XX-{day:02}"


def _next_day(day: int, sentence: Sentence) -> str | None:
    """The next day of a month with this number."""
    today = today_of(sentence)
    if today is None:
        return None
    first = today.replace(day=1)
    for months in range(12):
        month = almanac.months_on(first, months)
        if day <= almanac.last_of_month(month.year, month.month).day:
            found = month.replace(day=day)
            if found >= today:
                return found.isoformat()
    return None


# months, quarters and years


def month(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "March 2026"; "March" alone only where a capital letter says that it is the month."""
    name = said["month"]
    if said["year"]:
        return f"{said['year']}-{number_of(said, sentence, 'month'):02}"
    if not sentence.vocabulary.is_full("month", name):
        return None
    if not name[0].isupper() or name.isupper() or _opens_as_verb(said, sentence):
        return None
    return _spell_month(number_of(said, sentence, "month"), sentence, 0)


def _opens_as_verb(said: re.Match[str], sentence: Sentence) -> bool:
    """Whether this is "May I ..." or "March on!"."""
    verbs = sentence.vocabulary.words("month_verbs")
    return said["month"].lower() in verbs and sentence.begins_at(said.start())


def month_named(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "in march", "by Jan"."""
    if not said["month"][0].isupper() and sentence.is_followed_by_noun(said.end()):
        return None
    if said["month"].islower() and not sentence.vocabulary.is_full("month", said["month"]):
        return None
    return _spell_month(number_of(said, sentence, "month"), sentence, 0)


def _spell_month(number: int, sentence: Sentence, years: int) -> str:
    today = today_of(sentence)
    if today is None:
        return f"XXXX-{number:02}"
    found = almanac.with_year(number, almanac.last_of_month(2024, number).day - 1, today)
    year = found.year if found and not years else today.year
    if years < 0:
        year = today.year - (number >= today.month)
    elif years > 0:
        year = today.year + (number <= today.month)
    return f"{year}-{number:02}"


@from_today
def which_month(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "next March"."""
    years = number_of(said, sentence, "which")
    return _spell_month(number_of(said, sentence, "month"), sentence, years)


def edge_of_month(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "mid-March", "the end of March"."""
    number = number_of(said, sentence, "month")
    spelt = _spell_month(number, sentence, 0)
    if said["year"]:
        spelt = f"{said['year']}-{number:02}"
    return _edge(spelt, str(sentence.vocabulary.meaning("edge", said["edge"])))


def _edge(spelt: str, edge: str) -> str:
    """The end of a period is its last day; other parts of it have no days of their own."""
    days = almanac.days_of(spelt) if edge == "end" else None
    return (days[1] - timedelta(days=1)).isoformat() if days else f"{spelt}-{edge}"


@from_today
def edge_of_period(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "the end of the month", "early next year"."""
    which = number_of(said, sentence, "which") if said["which"] else 0
    spelt = spell_period(period_of(said, sentence), which, today)
    edge = str(sentence.vocabulary.meaning("edge", said["edge"]))
    return f"{spelt}-end" if edge == "end" and "W" in spelt else _edge(spelt, edge)


def period_of(said: re.Match[str], sentence: Sentence) -> str:
    return str(sentence.vocabulary.meaning("period", said["period"]))


def spell_period(period: str, steps: int, today: date) -> str:
    """The week, weekend, month, quarter or year so many steps from that of a day."""
    if period in ("week", "weekend"):
        year, week, _ = (today + timedelta(weeks=steps)).isocalendar()
        return f"{year}-W{week:02}{'-WE' if period == 'weekend' else ''}"
    if period == "year":
        return f"{today.year + steps:04}"
    first = today.replace(day=1)
    if period == "quarter":
        day = almanac.months_on(first, 3 * steps)
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    return almanac.months_on(first, steps).isoformat()[:7]


def edge_of_quarter(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "the end of Q3"."""
    spelt = quarter(said, sentence)
    return spelt and _edge(spelt, str(sentence.vocabulary.meaning("edge", said["edge"])))


def quarter(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "Q3", "Q3 2025"."""
    return _spell_quarter(int(said["digit"]), said["year"], sentence)


def quarter_named(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "the third quarter"."""
    number = number_of(said, sentence, "ordinal")
    return _spell_quarter(number, said["year"], sentence) if number <= 4 else None


def _spell_quarter(number: int, year: str | None, sentence: Sentence) -> str:
    today = today_of(sentence)
    if year is None and today is not None:
        # As for days: the quarter of this name that is not long past.
        ends = almanac.with_year(number * 3, 28, today)
        year = str(ends.year) if ends else None
    return f"{year}-Q{number}" if year else f"XXXX-Q{number}"


def year(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "in 2026", but not "in 2000 homes"."""
    after = sentence.text[said.end() : said.end() + 2]
    counts = re.match(r"[.,:%/-]\w|%", after) or sentence.is_followed_by_noun(said.end())
    return None if counts else said["year"]


# in figures


def numeric(sentence: Sentence, start: int) -> tuple[int, str] | None:
    """Where a date in figures ends, and the day it means.

    Nobody can tell whether 03/02 is in February or in March, so it stays what it is.
    """
    said = _NUMERIC.match(sentence.text, start)
    if said is None:
        return None
    if said["iso"] or said["year_first"]:
        spelt = said["iso"] or f"{said['year_first']}-{int(said['m']):02}-{int(said['d']):02}"
        if almanac.days_of(spelt) is None:
            return None
        return said.end(), f"{spelt}T{said['clock']}" if said["clock"] else spelt
    first, second = int(said["a"] or said["a2"]), int(said["b"] or said["b2"])
    if not said["year"] and not _is_date_without_year(said, sentence):
        return None
    spelt_day = _in_either_order(first, second, said["year"], today_of(sentence))
    return (said.end(), spelt_day) if spelt_day else None


def _is_date_without_year(said: re.Match[str], sentence: Sentence) -> bool:
    """Whether 3/14 is a day and not a fraction or a score."""
    if (said["a2"], said["b2"]) == _AROUND_THE_CLOCK:
        return False
    if sentence.word_before(said.start()) in sentence.vocabulary.words("when"):
        return True
    padded = said["a2"].startswith("0") or said["b2"].startswith("0")
    return padded or int(said["b2"]) not in _PARTS_OF_ONE or int(said["a2"]) >= int(said["b2"])


def _in_either_order(first: int, second: int, year: str | None, today: date | None) -> str | None:
    full = (int(year) + 2000 if len(year) == 2 else int(year)) if year else None
    if first > 12 or second > 12 or first == second:
        month, day = (second, first) if first > 12 else (first, second)
        return _spell_day(month, day, full, today) if month <= 12 else None
    if not first or not second:
        return None
    return f"{first}/{second}/{full}" if full else f"{first}/{second}"
