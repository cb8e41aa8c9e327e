"""Our own errors for those of the driver. Each names the fix."""

from __future__ import annotations

import psycopg
from psycopg import errors as pg

from incumbent.model.errors import (
    IncumbentError,
    InvalidInput,
    ReadOnlyStore,
    StoreBusy,
    StoreConflict,
    StoreError,
    StoreFull,
    StoreUnavailable,
)

_NOT_KEPT = "nothing of this call was kept"


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is at fault rather than the statement."""
    if error.diag.severity_nonlocalized in ("FATAL", "PANIC"):
        return True  # the server ends the connection: it stops, or somebody was idle for too long
    state = error.sqlstate
    if state is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return state.startswith("08")


def translate(error: psycopg.Error, where: str) -> IncumbentError:
    """The error to raise for one of the driver's. `where` names the server without secrets."""
    told = _told(error)
    for kinds, kind, text in _KNOWN:
        if isinstance(error, kinds):
            return kind(text.format(where=where, told=told))
    if is_lost(error):
        return StoreUnavailable(
            f"the connection to {where} was lost ({told}); {_NOT_KEPT}, and the next call connects "
            f"again"
        )
    return StoreError(f"{where}: {told}")


def refusal(error: psycopg.Error, where: str) -> IncumbentError:
    """The error for a connection that could not be made: the server's reason has no code then."""
    told = _told(error)
    for words, kind, fix in _REFUSALS:
        if any(word in told for word in words):
            return kind(f"{where} refuses the connection ({told}); {fix}")
    return StoreUnavailable(
        f"no PostgreSQL server answers at {where} ({told}); is it running, and is the address "
        f"right?"
    )


def _told(error: psycopg.Error) -> str:
    return " ".join((error.diag.message_primary or str(error)).split()) or type(error).__name__


_Kinds = type[psycopg.Error] | tuple[type[psycopg.Error], ...]
_KNOWN: tuple[tuple[_Kinds, type[IncumbentError], str], ...] = (
    (
        pg.DiskFull,
        StoreFull,
        f"no space left on {{where}} ({{told}}); {_NOT_KEPT}. Make room on the disk of the server",
    ),
    (
        (pg.OutOfMemory, pg.InsufficientResources, pg.TooManyConnections),
        StoreBusy,
        f"{{where}} is out of resources ({{told}}); {_NOT_KEPT}. Raise max_connections on the "
        f"server, or lower pool_size",
    ),
    (
        pg.LockNotAvailable,
        StoreBusy,
        f"other writers of this organization held {{where}} for too long; {_NOT_KEPT}. Raise "
        f"busy_timeout",
    ),
    (
        pg.QueryCanceled,
        StoreBusy,
        f"{{where}} took longer than it may ({{told}}); {_NOT_KEPT}. Raise statement_timeout",
    ),
    (
        (pg.DeadlockDetected, pg.SerializationFailure),
        StoreConflict,
        f"another transaction on {{where}} got in the way ({{told}}); {_NOT_KEPT}. Try again",
    ),
    (
        pg.ReadOnlySqlTransaction,
        ReadOnlyStore,
        "{where} takes no writes: it is a replica, or set to read only. Give the address of the "
        "primary, and this one as read_url",
    ),
    (
        pg.InsufficientPrivilege,
        StoreError,
        "the role that connects to {where} lacks a privilege ({told}); let an administrator run: "
        "incumbent db init --login NAME, with the name of the role",
    ),
    (
        pg.InFailedSqlTransaction,
        StoreError,
        "an error on the way had ended the transaction on {where}; nothing of it was kept",
    ),
    (
        pg.ProgramLimitExceeded,
        InvalidInput,
        "names that are this long together do not fit an index of PostgreSQL ({told}); shorten "
        "the key, the subject, the user or the organization",
    ),
    (
        pg.UndefinedTable,
        StoreError,
        "{where} has no complete Incumbent schema ({told}); run: incumbent db init",
    ),
    (
        pg.InvalidPassword,
        StoreError,
        "{where} refuses the password; check it in the address, in PGPASSWORD or in ~/.pgpass",
    ),
    (
        pg.InvalidAuthorizationSpecification,
        StoreError,
        "{where} lets this role not in ({told}); check the user in the address and pg_hba.conf",
    ),
    (
        pg.InvalidCatalogName,
        StoreError,
        "{where} does not exist ({told}); make it with: createdb, or change the address",
    ),
)

# What the server says in English. In another language the general text above is given, which
# quotes it. The first that fits counts.
_REFUSALS: tuple[tuple[tuple[str, ...], type[IncumbentError], str], ...] = (
    (
        ("password authentication failed", "no password supplied", "FATAL: password"),
        StoreError,
        "check user and password in the address, in PGPASSWORD or in ~/.pgpass",
    ),
    (
        ("too many clients", "too many connections", "connection slots"),
        StoreBusy,
        "raise max_connections on the server or the limit of the role, lower pool_size, or put a "
        "pooler before it",
    ),
    (
        ("no encryption", "pg_hba.conf"),
        StoreError,
        "check the user and the database in the address, let them in with pg_hba.conf, and try "
        "?sslmode=require after the address",
    ),
    (
        ("permission denied for database",),
        StoreError,
        "let an administrator run: incumbent db init --login NAME, with the name of the role",
    ),
    (
        ('FATAL: database "',),
        StoreError,
        "make the database with: createdb, or change the address",
    ),
    (('FATAL: role "',), StoreError, "check the user in the address; it must be able to log in"),
    (
        ("SSL", "certificate", "sslmode", "sslrootcert", "sslcert"),
        StoreError,
        "check sslmode, sslrootcert and sslcert in the address",
    ),
    (
        ("bad value for", "invalid integer value", "invalid port"),
        InvalidInput,
        "mend that part of the address",
    ),
    (
        ("starting up", "shutting down", "in recovery"),
        StoreUnavailable,
        "it is starting or stopping; try again in a moment",
    ),
)
