"""The five lines: open, say who you are, write, write again, read.

Prints:
    456 Oak Ave
    ['123 Main St', '456 Oak Ave']
"""

import incumbent

memory = incumbent.open(":memory:")
alice = memory.session(user_id="alice", authority="manager", organization="acme")
alice.write("ship_to", "123 Main St")
alice.write("ship_to", "456 Oak Ave")
print(alice.current("ship_to"))

print([fact.value for fact in alice.history("ship_to")])
