"""Every error that Incumbent raises, in one tree.

    IncumbentError
    ├── InvalidInput            the call is wrong; nothing was changed
    │   ├── UnknownFact         no such fact, or none that this identity may see
    │   ├── UnknownTarget       `supersedes` names nothing
    │   ├── UnknownDependency   `depends_on`, `doubts` or `when_superseded` names nothing
    │   ├── UnknownVerdict      no such verdict, or none that this identity may see
    │   ├── AmbiguousTarget     a key stands for several facts; name one by id
    │   ├── DependencyCycle     a fact would rest on itself
    │   ├── DuplicateId         the caller's id of a fact, or ref of a turn, is taken
    │   └── NothingToUndo       the verdict is undone already, or its content was erased
    ├── NotPermitted            the identity may not do this
    ├── SessionClosed           the session, branch or memory was closed
    │   └── ReadOnlySession     a session on the past takes no writes
    ├── NotDelivered            a webhook did not take what it was sent
    ├── DamagedModel            the file of the reader's model is missing or not the right one
    └── StoreError              the storage refused
        ├── NotADatabase        the file is not an Incumbent database
        │   └── StoreDamaged    it was one, and part of it cannot be read any more
        ├── NewerSchema         written by a newer Incumbent
        ├── ReadOnlyStore       the file cannot be written
        ├── StoreFull           no space left
        ├── StoreUnavailable    the server cannot be reached, or went away
        └── StoreBusy           other writers held the store for too long
            └── StoreConflict   another transaction got in the way; the call can be repeated

Messages quote the offending input and name the fix. Errors of a database driver never reach the
caller as such: the adapter translates them.
"""

from __future__ import annotations


class IncumbentError(Exception):
    """Base of everything Incumbent raises on purpose."""


class InvalidInput(IncumbentError, ValueError):
    """The call cannot be carried out as given. Nothing was changed."""


class UnknownFact(InvalidInput):
    """No fact of that id or key exists for this identity."""


class UnknownTarget(InvalidInput):
    """A supersession names a fact that does not exist for this identity."""


class UnknownDependency(InvalidInput):
    """A fact claims to rest on, or wait for, a fact that does not exist for this identity."""


class UnknownVerdict(InvalidInput):
    """No verdict of that id exists for this identity."""


class AmbiguousTarget(InvalidInput):
    """A key stands for several facts at once; an id would name one."""


class DependencyCycle(InvalidInput):
    """A fact would rest, directly or through others, on what it replaces."""


class DuplicateId(InvalidInput):
    """The id a caller chose for a fact is taken in the organization, or the ref of a turn in the
    session."""


class NothingToUndo(InvalidInput):
    """The verdict is already undone, or what it decided on was erased."""


class NotPermitted(IncumbentError):
    """The identity lacks the authority, the permission or the ownership that the call needs."""


class SessionClosed(IncumbentError):
    """The session, branch or memory was closed, committed or discarded."""


class ReadOnlySession(SessionClosed):
    """A session that looks at the past takes no writes."""


class NotDelivered(IncumbentError):
    """A webhook did not take entries of the audit stream. They are sent again the next time."""


class DamagedModel(IncumbentError):
    """A file that ships with Incumbent is missing, damaged or of another version."""


class StoreError(IncumbentError):
    """The storage could not do its part."""


class NotADatabase(StoreError):
    """The file exists and is not an Incumbent database."""


class StoreDamaged(NotADatabase):
    """Part of the store cannot be read any more; it is to be restored from a backup."""


class NewerSchema(StoreError):
    """The database was written by a newer version of Incumbent."""


class ReadOnlyStore(StoreError):
    """The database cannot be written."""


class StoreFull(StoreError):
    """No space is left for the database."""


class StoreBusy(StoreError):
    """Other writers held the store longer than the configured wait."""


class StoreConflict(StoreBusy):
    """Another transaction got in the way of this one, which was rolled back and can be repeated."""


class StoreUnavailable(StoreError):
    """The server cannot be reached, or went away during the call."""


class UnknownTitleWarning(UserWarning):
    """A title that the authority ladder does not know was taken for the lowest rung."""
