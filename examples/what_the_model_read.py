"""A note that repeats a dead value is cut, and a recorded context comes back byte for byte.

Prints:
    - unit_price: 290
    - total: not known, recalculate, because unit_price changed (now 290)
    - turn_1: At [no longer current] each we can afford forty.
    replayed: True
    changed: "- unit_price: 290" to "- unit_price: 280", superseded since
"""

import incumbent

with incumbent.open(":memory:") as memory:
    ann = memory.session(user_id="ann", organization="acme")
    offer = ann.write("unit_price", 310)
    ann.write("total", 12_400, depends_on=["unit_price"])
    ann.note("turn_1", "At 310 each we can afford forty.", states=[offer])
    ann.write("unit_price", 290)

    told = ann.context("What is the unit price?", budget=500, record=True)
    print(*(line.text for line in told.lines if line.text.startswith("- ")), sep="\n")

    ann.write("unit_price", 280)
    again = memory.replay(told.receipt.id, organization="acme")
    print("replayed:", again.text == told.text and again.intact)

    now = ann.context("What is the unit price?", budget=500)
    for change in memory.compare(told.receipt, now.receipt):
        if change.why == "superseded since":  # the clock moved on, too
            print(f'{change.kind}: "{change.before}" to "{change.after}", {change.why}')
