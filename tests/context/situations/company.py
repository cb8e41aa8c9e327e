"""Life in a company: buying and selling, customer support, and who may read what."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from incumbent import Memory, Source
from incumbent.testing import SteppingClock
from tests.context.situations.scene import Scene, feed


def procurement(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """A policy overrules an intern; the approved supplier and the delivery terms change."""
    cfo = memory.session(
        user_id="carla",
        user_name="Carla Ruiz",
        authority="CFO",
        organization="northwind",
        permissions=["authority:policy"],
    )
    cfo.write(
        "discount_policy",
        "Discounts are at most 15% of the list price. Anything above needs the CFO's signature.",
        source="policy",
        authority="policy",
        id="f-discount-policy",
    )
    cfo.write("q1_procurement_budget", "EUR 120,000", source="finance_system", id="f-budget")
    cfo.write("approved_supplier", "Helios Metals", source="erp_system", id="f-supplier-1")
    intern = memory.session(
        user_id="ines",
        user_name="Ines Park",
        authority="intern",
        organization="northwind",
        department="procurement",
        session_id="monday",
    )
    clock.advance(minutes=5)
    intern.write("discount_policy", "Let's offer Globex 25% this time", id="f-intern")
    turn = intern.write("globex_order", {"item": "steel coil", "tons": 40}, id="f-order")
    intern.note(
        "turn_1",
        "Globex wants 40 tons of steel coil. Let's offer Globex 25% this time!",
        ttl=timedelta(days=7),
        states=[turn],
    )
    clock.advance(days=2)
    cfo.write("approved_supplier", "Vulcan Steel AG", source="erp_system", id="f-supplier-2")
    cfo.write(
        "delivery_terms",
        "DAP Rotterdam, 30 days net",
        subject="Vulcan Steel AG",
        source="contract",
        id="f-terms",
    )
    intern.note("turn_2", "I was going to order from Helios Metals, is that still right?")
    return [
        Scene(
            "procurement",
            intern.context("Can we offer Globex 25% on the steel coil, and who do we order from?"),
            says=("at most 15%", "Vulcan Steel AG", "EUR 120,000", '"tons":40'),
            dead=("25% this time", "Helios"),
        ),
        Scene(
            "procurement-annotated",
            intern.context(
                "Can we offer Globex 25% on the steel coil, and who do we order from?",
                style="annotated",
            ),
            says=("at most 15%", "id f-discount-policy", "id f-supplier-2"),
            dead=("25% this time", "Helios", "f-supplier-1", "f-intern"),
        ),
    ]


def support(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """A customer moved, a refund was promised and taken back, and old notes say otherwise."""
    agent = memory.session(
        user_id="sam",
        user_name="Sam Okafor",
        authority="agent",
        organization="shoply",
        department="support",
        session_id="ticket-4711",
    )

    def crm(row: str) -> Source:
        return Source(type="system", name="crm_system", ref=row)

    customer = "Maria Lindqvist"
    agent.write("shipping_address", "123 Main St, Springfield", subject=customer, id="f-address-1")
    records = feed(memory, agent)
    records.write("customer_tier", "gold", subject=customer, source=crm("cust-88"), id="f-tier")
    agent.write("preferred_contact", "e-mail, never by phone", subject=customer, id="f-contact")
    records.write(
        "refund_policy",
        "Refunds within 30 days of delivery; later only as store credit.",
        source="policy",
        id="f-refund-policy",
    )
    order = agent.write("order_status", "packed", subject="order 1009", id="f-order-1")
    agent.note("turn_1", "Order 1009 is packed, goes to 123 Main St, Springfield.", states=[order])
    clock.advance(hours=3)
    agent.write("shipping_address", "456 Oak Ave, Portland", subject=customer, id="f-address-2")
    agent.write("order_status", "on hold: address changed", subject="order 1009", id="f-order-2")
    agent.write("promised_refund", "49.90 USD", subject=customer, id="f-refund")
    agent.note("turn_2", "Customer moved last week. Old label says 123 Main St - do not use.")
    agent.note("turn_3", "I told her she gets 49.90 USD back, and that she can call +1 555 0100.")
    clock.advance(hours=1)
    agent.retract("promised_refund", "promised by mistake", subject=customer)
    memory.environment.provide("location", lambda: "Lyon support centre")
    memory.environment.provide("carrier_status", lambda: "UPS: delays in the Northwest")
    return [
        Scene(
            "support-address",
            agent.context(f"Where do we ship order 1009 of {customer}?"),
            says=("456 Oak Ave, Portland", "UPS: delays in the Northwest"),
            dead=("123 Main St", "Springfield", "packed", "49.90"),
        ),
        Scene(
            "support-refund",
            agent.context(f"What refund was promised to {customer}?"),
            says=("Refunds within 30 days", "taken back"),
            dead=("49.90", "123 Main St"),
        ),
    ]


def two_people(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """Two people of one organization ask the same; what each may see differs."""
    hr = memory.session(
        user_id="hana",
        user_name="Hana Sato",
        authority="director",
        organization="northwind",
        department="people",
        permissions=["hr"],
    )
    lead = memory.session(
        user_id="omar",
        user_name="Omar Diallo",
        authority="team lead",
        organization="northwind",
        department="platform",
    )
    memory.declare("salary*", requires=["hr"])
    shared: dict[str, Any] = {"memory_type": "organizational", "subject": "Priya Nair"}
    hr.write("role", "staff engineer", **shared, id="f-role")
    hr.write("start_date", "2021-03-01", **shared, id="f-start")
    hr.write("salary", "EUR 98,000", **shared, id="f-salary-1")
    hr.write(
        "performance_plan",
        "on a plan until March",
        **shared,
        requires=["hr"],
        id="f-plan",
    )
    hr.write("vacation_policy", "30 days a year", source="policy", id="f-vacation")
    hr.write(
        "severance_rule",
        "At least two months per year of service",
        source="policy",
        min_authority="executive",
        id="f-severance",
    )
    clock.advance(days=1)
    hr.write("salary", "EUR 104,000", **shared, id="f-salary-2")
    lead.write("impression", "great with juniors", subject="Priya Nair", id="f-impression")
    query = "What do we know about Priya Nair: role, salary, vacation?"
    return [
        Scene(
            "two-people-hr",
            hr.context(query),
            says=("EUR 104,000", "on a plan until", "30 days a year"),
            dead=("98,000", "great with juniors", "two months"),
        ),
        Scene(
            "two-people-lead",
            lead.context(query),
            says=("staff engineer", "great with juniors", "30 days a year"),
            dead=("98,000", "104,000", "on a plan", "two months", "salary:"),
        ),
    ]
