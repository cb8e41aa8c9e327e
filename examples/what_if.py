"""A branch tries something out: nothing real changes until it is committed.

Prints:
    in the branch: Kavli
    outside it: Norde, needs review: nothing
    supplier: promoted (commit)
    now: Kavli, needs review: total
"""

import incumbent

with incumbent.open(":memory:") as memory:
    ann = memory.session(user_id="ann", organization="acme")
    ann.write("supplier", "Norde")
    ann.write("total", 12_400, depends_on=["supplier"])

    def told(session: incumbent.Session) -> str:
        """The supplier a session goes by, and what wants recalculating there."""
        pending = [review.fact.key for review in session.reviews()]
        return f"{session.current('supplier')}, needs review: {', '.join(pending) or 'nothing'}"

    plan = ann.hypothetical("another supplier")
    plan.write("supplier", "Kavli")
    print("in the branch:", plan.current("supplier"))
    print("outside it:", told(ann))
    print(*plan.commit(), sep="\n")
    print("now:", told(ann))
