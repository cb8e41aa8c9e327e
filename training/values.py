"""Values: makers of dates, amounts, names and the like, each with several ways to say the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

Said = tuple[str, ...]
"""One value, in one or more wordings; the first is the plain one."""
Maker = Callable[[Random], Said]

FIRST_NAMES = (
    "Anna Ben Carla Deepak Elif Farid Grace Hiro Ines Jonas Kofi Lena Mateo Nadia Omar Petra Quinn "
    "Rosa Sven Tara Uma Viktor Wanda Yusuf Zoe Aisha Bruno Chloe Diego Emeka Fiona Gustav Hana "
    "Ivan Jamal Keiko Liam Maya Noor Olga Pablo Ravi Sara Tomas Ulrich Vera Wei Ximena Yara Zane "
    "Alice Bob Carol Dave Erin Frank Gina Henry Isabel Jack Karen Leo Mia Nick Paula Rita Sam Tina "
    "Victor"
).split()
LAST_NAMES = (
    "Abara Berg Castillo Dubois Eriksen Fischer Garcia Haddad Ito Jensen Kowalski Lindqvist Moreau "
    "Nakamura Okafor Petrov Quispe Rossi Santos Tanaka Usman Varga Weber Yilmaz Zhang Baker Chen "
    "Davies Evans Foster Gupta Hughes Jones Kim Lopez Miller Novak Owens Patel Reyes Smith Taylor"
).split()
CITIES = (
    "Lisbon|Austin|Kyoto|Denver|Prague|Lagos|Toronto|Lima|Oslo|Dublin|Zagreb|Perth|Boston|Turin|"
    "Hanoi|Leeds|Quito|Malmö|Tampa|Osaka|Berlin|Madrid|Chicago|Portland|Vienna|Nairobi|Seoul|"
    "Mumbai|San Diego|New York|Cape Town|Buenos Aires|Salt Lake City|Santa Fe|Porto|Ghent|Lyon|"
    "Naples|Seattle|Phoenix|Melbourne|Auckland|Manchester|Glasgow|Bristol|Rotterdam|Munich|Zurich|"
    "Krakow"
).split("|")
COUNTRIES = (
    "Portugal|Japan|Canada|Norway|Ireland|Croatia|Australia|Italy|Vietnam|Ecuador|Sweden|Germany|"
    "Spain|Austria|Kenya|South Korea|India|Peru|Chile|Poland|France|the Netherlands|Mexico|Brazil"
).split("|")
FIRMS = (
    "Vertex|Halcyon|Brightside|Nimbus|Orchard|Quantix|Redwood|Solstice|Tidewater|Umbra|Wayfarer|"
    "Zephyr|Ironclad|Juniper|Kestrel|Lumen|Marlow|Northgate|Opaline|Pinnacle|Acorn Labs|Blue Ridge|"
    "Carter & Sons|Delta Freight|Evergreen Foods|Foxglove|Granite Systems|Harbor Bank|"
    "Inkwell Media|Kite Analytics|Maple Health|Oakline|Polaris Energy|Riverstone|Silverpine|"
    "Thornbury|Westfield Tools"
).split("|")
STREETS = (
    "Maple Street|Cedar Lane|Hill Road|River Drive|Station Avenue|Park Terrace|Mill Court|"
    "Lake View|Forest Way|Garden Close|Elm Street|King's Road|Harbour Walk|Bridge Street|"
    "Sunset Boulevard|Church Lane|Orchard Street|Victoria Road|Willow Crescent|Market Square"
).split("|")
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = (
    "January February March April May June July August September October November December"
).split()
NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}


def _ordinal(day: int) -> str:
    if 10 <= day % 100 <= 20:
        return f"{day}th"
    return f"{day}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th') }"


def first_name(r: Random) -> Said:
    return (r.choice(FIRST_NAMES),)


def person(r: Random) -> Said:
    name = f"{r.choice(FIRST_NAMES)} {r.choice(LAST_NAMES)}"
    return (name, name.split()[0]) if r.random() < 0.5 else (name.split()[0],)


def doctor(r: Random) -> Said:
    last = r.choice(LAST_NAMES)
    return (f"Dr. {last}", f"Dr {last}", f"Doctor {last}")


def city(r: Random) -> Said:
    return (r.choice(CITIES),)


def country(r: Random) -> Said:
    return (r.choice(COUNTRIES),)


def firm(r: Random) -> Said:
    name = r.choice(FIRMS)
    if r.random() < 0.3:
        return (f"{name} {r.choice(['Inc', 'Ltd', 'Group', 'Corp', 'GmbH'])}", name)
    return (name,)


def street(r: Random) -> Said:
    number, road = r.randint(1, 999), r.choice(STREETS)
    short = road.replace("Street", "St").replace("Avenue", "Ave").replace("Road", "Rd")
    if r.random() < 0.25:
        return (f"{number} {road}, {r.choice(CITIES)}", f"{number} {road}")
    return (f"{number} {road}", f"{number} {short}")


def _amount(r: Random) -> int:
    return r.choice(
        [
            r.randint(2, 99) * 1000,
            r.randint(10, 990) * 10,
            r.randint(1, 40) * 50_000,
            r.randint(5, 400),
        ]
    )


def money(r: Random) -> Said:
    n = _amount(r)
    said = [f"${n:,}", f"{n:,} dollars", f"${n}", f"{n} USD"]
    if n % 1000 == 0:
        said += [f"${n // 1000}k", f"{n // 1000}k", f"{n // 1000} thousand dollars"]
    if n >= 1_000_000 and n % 100_000 == 0:
        said += [f"${n / 1_000_000:g} million", f"${n / 1_000_000:g}M"]
    currency = r.random()
    if currency < 0.15:
        said = [f"€{n:,}", f"{n:,} euros", f"{n} EUR"]
    elif currency < 0.25:
        said = [f"£{n:,}", f"{n:,} pounds"]
    r.shuffle(said)
    return tuple(said)


def price(r: Random) -> Said:
    whole = r.randint(3, 900)
    if r.random() < 0.4:
        return (f"${whole}.{r.choice(['99', '50', '95', '00'])}",)
    said = [f"${whole}", f"{whole} dollars", f"{whole} bucks"]
    r.shuffle(said)
    return tuple(said)


def percent(r: Random) -> Said:
    n = r.randint(2, 95)
    said = [f"{n}%", f"{n} percent", f"{n} per cent"]
    r.shuffle(said)
    return tuple(said)


def count(r: Random) -> Said:
    n = r.randint(1, 12)
    said = [str(n), NUMBER_WORDS[n]]
    r.shuffle(said)
    return tuple(said)


def number(r: Random) -> Said:
    n = r.choice([r.randint(2, 20), r.randint(13, 400), r.randint(1, 90) * 100])
    said = [f"{n:,}", str(n)]
    if n <= 20:
        said.append(NUMBER_WORDS[n])
    return tuple(said)


def clock(r: Random) -> Said:
    hour, minute = r.randint(1, 12), r.choice([0, 0, 0, 15, 30, 45, 10, 20])
    half = r.choice(["am", "pm", "pm"])
    full = hour % 12 + (12 if half == "pm" else 0)
    time = f"{hour}:{minute:02}" if minute else str(hour)
    part = "morning" if half == "am" else "afternoon" if full < 18 else "evening"
    said = [f"{time} {half}", f"{time}{half}", f"{full:02}:{minute:02}", f"{time} in the {part}"]
    if minute == 30:
        said.append(f"half past {hour}")
    if not minute:
        said.append(f"{NUMBER_WORDS[hour]} o'clock")
    if (hour, minute, half) == (12, 0, "pm"):
        said.append("noon")
    r.shuffle(said)
    return tuple(said)


def day(r: Random) -> Said:
    name = r.choice(DAYS)
    said = [name, f"next {name}", f"this {name}"]
    return (r.choice(said),) if r.random() < 0.7 else (name, name[:3])


def date(r: Random) -> Said:
    if r.random() < 0.3:
        return day(r)
    n, month = r.randint(1, 28), r.choice(MONTHS)
    said = [
        f"{month} {n}",
        f"{month} {_ordinal(n)}",
        f"{n} {month}",
        f"the {_ordinal(n)} of {month}",
        f"{month[:3]} {n}",
    ]
    r.shuffle(said)
    if r.random() < 0.25:
        return (f"the {_ordinal(n)}", f"the {_ordinal(n)} of this month")
    return tuple(said)


def month(r: Random) -> Said:
    name = r.choice(MONTHS)
    return (r.choice([name, f"early {name}", f"mid-{name}", f"the end of {name}"]),)


def quarter(r: Random) -> Said:
    q = r.randint(1, 4)
    word = ["first", "second", "third", "fourth"][q - 1]
    return (f"Q{q}", f"the {word} quarter")


def year(r: Random) -> Said:
    return (str(r.randint(1995, 2032)),)


def duration(r: Random) -> Said:
    n, unit = r.randint(2, 14), r.choice(["days", "weeks", "months", "hours", "years"])
    return (f"{n} {unit}", f"{NUMBER_WORDS[n]} {unit}")


def minutes(r: Random) -> Said:
    n = r.choice([5, 10, 15, 20, 25, 30, 40, 45, 50, 60, 90, 120])
    return (f"{n} minutes", f"{n} min")


def phone(r: Random) -> Said:
    a, b, c = r.randint(200, 989), r.randint(200, 989), r.randint(1000, 9999)
    return r.choice([(f"{a}-{b}-{c}", f"{a} {b} {c}"), (f"555-{c}",), (f"({a}) {b}-{c}",)])


def email(r: Random) -> Said:
    who = r.choice(FIRST_NAMES).lower()
    at = r.choice(["mail.example", "post.example", "work.example", "inbox.example"])
    return (f"{who}.{r.choice(LAST_NAMES).lower()}@{at}",) if r.random() < 0.5 else (f"{who}@{at}",)


def weight(r: Random) -> Said:
    n = r.randint(48, 120)
    return (f"{n} kg", f"{n} kilos")


def dose(r: Random) -> Said:
    n = r.choice([2, 5, 10, 20, 25, 40, 50, 75, 100, 150, 200, 500])
    return (f"{n} mg", f"{n}mg", f"{n} milligrams")


def version(r: Random) -> Said:
    text = f"{r.randint(0, 22)}.{r.randint(0, 14)}"
    text = f"{text}.{r.randint(0, 20)}" if r.random() < 0.5 else text
    return (text, f"v{text}") if r.random() < 0.5 else (text,)


def port(r: Random) -> Said:
    return (str(r.choice([3000, 5000, 5432, 6379, 8000, 8080, 8443, 9000, 9090, 27017, 4317])),)


def code(r: Random) -> Said:
    letters = "".join(r.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(r.randint(2, 3)))
    return (f"{letters}-{r.randint(10, 99999)}",)


def room(r: Random) -> Said:
    return (
        (f"room {r.choice('ABCD')}{r.randint(1, 40)}",)
        if r.random() < 0.5
        else (f"room {r.randint(1, 40) * 10 + r.randint(1, 9)}",)
    )


def size(r: Random) -> Said:
    n, unit = r.choice([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]), r.choice(["GB", "MB", "TB"])
    return (f"{n} {unit}", f"{n}{unit}")


MAKERS: Mapping[str, Maker] = {
    made.__name__: made
    for made in (
        first_name, person, doctor, city, country, firm, street, money, price, percent, count,
        number, clock, day, date, month, quarter, year, duration, minutes, phone, email, weight,
        dose, version, port, code, room, size,
    )
}  # fmt: skip


def from_list(values: Sequence[str | Sequence[str]]) -> Maker:
    """A maker that draws from a list; an entry that is a list names one value in several ways."""
    found = [(value,) if isinstance(value, str) else tuple(value) for value in values]
    return lambda r: r.choice(found)
