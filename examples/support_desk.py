"""A support desk: customers, staff, policies. Who sees what, and whose word counts.

docs/recipes.md walks through it.
"""

from datetime import UTC, datetime

import incumbent
from incumbent.testing import SteppingClock

clock = SteppingClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
memory = incumbent.open(":memory:", clock=clock)  # yours: a file or a database, and no clock


def customer(name: str) -> incumbent.Session:
    """A customer: a guest, who sees what we promised to this customer."""
    return memory.session(
        user_id=name,
        authority="customer",
        organization="northwind",
        permissions=[f"customer:{name}"],
        session_id=f"chat of {name}",
    )


def staff(name: str, *more: str) -> incumbent.Session:
    """One of us, who writes under a name of their own, for the organization."""
    return memory.session(
        user_id=name,
        authority="employee",
        organization="northwind",
        permissions=["organization:write", *more],
    )


def file_of(name: str, reader: str) -> incumbent.Session:
    """A customer's memory, for one of us to whom the customer's company gave the right."""
    rights = memory.session(user_id="app", organization="northwind", permissions=["rights"])
    if rights.current("may_read_files", reader) is not True:
        raise PermissionError(f"northwind gave {reader} no right to read files")
    return memory.session(
        user_id=name,
        user_name=f"{name} as read by {reader}",
        authority="employee",
        organization="northwind",
        permissions=["desk", f"customer:{name}"],
        session_id=f"chat of {name}",
    )


def share(by: incumbent.Session, key: str, value: object, about: str, needs: str) -> None:
    """State something for all who have a permission."""
    by.write(key, value, subject=about, memory_type="organizational", requires=[needs])


# The company has a policy for all and one for staff, and gives Tom a right.
lena = memory.session(
    user_id="lena", authority="manager", organization="northwind", permissions=["rights"]
)
lena.write("refund_policy", "Above 100 EUR a second signature is needed", source="policy")
lena.write("goodwill_policy", "Up to 20 EUR on top", source="policy", min_authority="employee")
share(lena, "may_read_files", True, about="tom", needs="rights")

# Monday. Two customers write, and Tom answers one of them.
nora, omar = customer("nora"), customer("omar")
omar.observe("My order 9000 never came. My phone number is 555-0100.")
nora.observe("My order 4711 came with a broken lamp. My address is 12 Mill Lane.")
chat = file_of("nora", reader="tom")
chat.observe("I am sorry! You will get 40 EUR back by Friday.", speaker="tom")

# What he promises is for Nora to see, and what he notes is for the desk.
tom = staff("tom", "desk", "customer:nora")
share(tom, "refund", "40 EUR, promised by 6 March", about="order 4711", needs="customer:nora")
share(tom, "note", "Her third complaint", about="nora", needs="desk")

# Tuesday. Nora sees it otherwise. The word of a guest retires nothing of ours.
clock.advance(days=1)
nora.observe("You promised 80 EUR! And my address is 3 Harbor Street now.")
print(nora.write("refund", "80 EUR", subject="order 4711"))
print(nora.write("refund_policy", "No signature is needed"))

# What the model of each of them reads.
asked = "How much does Nora get back for order 4711?"
print(nora.context(asked, budget=1000))

print(chat.context(asked, budget=1000))

print(omar.context(asked, budget=1000))

# The right is a fact: it has a history, and ends when the company takes it back.
lena.retract("may_read_files", subject="tom", reason="Tom left the desk")
try:
    file_of("nora", reader="tom")
except PermissionError as refused:
    print(refused)
