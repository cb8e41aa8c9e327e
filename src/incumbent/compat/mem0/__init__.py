"""mem0's `Memory` on Incumbent: the same calls and shapes, and what was superseded is gone.

from incumbent.compat.mem0 import Memory  # was: from mem0 import Memory

memory = Memory("agent.db")
memory.add("My address is 123 Main St.", user_id="alice")
memory.search("Where does she live?", filters={"user_id": "alice"})
"""

from incumbent.compat.mem0.awaited import AsyncMem0Memory
from incumbent.compat.mem0.memory import Mem0Memory
from incumbent.compat.mem0.refusals import NotCarriedOver

# Under the names that their users import. Incumbent has classes of these names already.
Memory = Mem0Memory
AsyncMemory = AsyncMem0Memory

__all__ = ["AsyncMemory", "Memory", "NotCarriedOver"]
