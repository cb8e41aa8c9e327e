"""One organization of a database as records, for `dump`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from incumbent.stores import codec
from incumbent.stores.sql.columns import CONTENT, TENURE
from incumbent.stores.sql.rows import fact_of, verdict_of
from incumbent.stores.sql.transaction import SQLTransaction

_PAGE = 1_000
_WIDTH = len(CONTENT) + len(TENURE)


def dumped(reader: SQLTransaction) -> Iterator[dict[str, Any]]:
    """Declarations, the log, the facts, their earlier tenures and the proofs of erasures."""
    for declaration in reader.declarations():
        yield {"kind": "declaration", **codec.declaration_record(declaration)}
    for row in reader.rows("dump_verdicts", {}):
        yield {"kind": "verdict", **codec.verdict_record(verdict_of(row))}
    for row in reader.rows("dump_facts", {}):
        record = codec.fact_record(fact_of(row[:_WIDTH]))
        yield {"kind": "fact", "seq": row[_WIDTH], "since": row[_WIDTH + 1], **record}
    for row in reader.rows("dump_tenures", {}):
        record = codec.fact_record(fact_of(row[:_WIDTH]))
        yield {"kind": "tenure", "since": row[_WIDTH], "until": row[_WIDTH + 1], **record}
    after = 0
    while page := reader.passages(None, after, _PAGE):
        yield from ({"kind": "passage", **codec.passage_record(kept)} for kept in page)
        after = page[-1].number
    for row in reader.rows("erasures", {"after": ""}):
        yield {"kind": "erasure", **json.loads(row[0])}
