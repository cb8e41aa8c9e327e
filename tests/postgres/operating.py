"""What tests of operating a database do again and again."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg


def document(result: Any) -> Any:
    """The one JSON document that a command printed."""
    return json.loads(result.stdout)


def do(address: str, *statements: str) -> None:
    """Run statements as an administrator would."""
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def ask(address: str, statement: str) -> Any:
    """What a statement gives."""
    with psycopg.connect(address, autocommit=True) as connection:
        return connection.execute(statement.encode()).fetchall()


def as_role(url: str, role: str, password: str) -> str:
    """The same address for somebody else."""
    return re.sub(r"//[^@]*@", f"//{role}:{password}@", url)
