"""A lower authority cannot retire what a higher one said; the context holds the policy alone.

Prints:
    max_discount: overruled (authority)
    - [policy, executive] max_discount: 15%
"""

import incumbent

with incumbent.open(":memory:") as memory:
    cfo = memory.session(user_id="carla", authority="CFO", organization="acme")
    intern = memory.session(user_id="ian", authority="intern", organization="acme")

    cfo.write("max_discount", "15%", source="policy", constraint_type="policy")
    print(intern.write("max_discount", "25%"))

    context = intern.context("Can we offer 25%?", budget=500)
    print(*(line.text for line in context.lines if line.fact_id), sep="\n")
