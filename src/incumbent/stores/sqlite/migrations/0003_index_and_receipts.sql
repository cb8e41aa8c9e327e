-- The index that contexts search. An entry stands on a shelf, and all facts of a shelf are for the
-- same readers. "version" of a shelf grows with every transaction that changes one of its entries;
-- "changed" of an entry is the version that last touched it, so that a process which holds a shelf
-- in memory reads only what is new.
CREATE TABLE shelves (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    organization    TEXT NOT NULL,
    owner           TEXT NOT NULL,
    scope           TEXT NOT NULL,
    scope_id        TEXT NOT NULL,
    requires        TEXT NOT NULL,      -- JSON list
    min_authority   TEXT NOT NULL,      -- '' for none
    binding         INTEGER NOT NULL,   -- 1 for constraints
    version         INTEGER NOT NULL
);
CREATE UNIQUE INDEX shelves_place
    ON shelves (organization, owner, scope_id, scope, requires, min_authority, binding);

CREATE TABLE entries (
    entry           INTEGER PRIMARY KEY,
    organization    TEXT NOT NULL,
    fact_id         TEXT NOT NULL,
    shelf           INTEGER NOT NULL,
    changed         INTEGER NOT NULL,
    live            INTEGER NOT NULL,   -- in office, or with a term still to end: in the postings
    starts          INTEGER,            -- a start still to come when this was recorded
    ends            INTEGER,
    derived         INTEGER NOT NULL,
    length          INTEGER NOT NULL,   -- how many terms
    tokens          INTEGER NOT NULL,   -- of its line in a context
    key             TEXT NOT NULL,
    terms           TEXT NOT NULL,
    probes          TEXT NOT NULL,
    vector          BLOB                -- one signed byte a dimension
);
CREATE UNIQUE INDEX entries_fact ON entries (organization, fact_id);
CREATE INDEX entries_changed ON entries (shelf, changed);

-- Postings: the row id is the entry, a token is the number of its shelf, an x and a term. The
-- texts are not kept here: "terms" of the entry has them, for taking a token out again.
CREATE VIRTUAL TABLE postings USING fts5 (
    tokens, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
);

-- How the index of each organization was made; one made otherwise is made anew.
CREATE TABLE recipes (
    organization    TEXT PRIMARY KEY,
    recipe          TEXT NOT NULL
) WITHOUT ROWID;

-- Proofs of contexts, for those who asked for them to be kept.
CREATE TABLE receipts (
    organization    TEXT NOT NULL,
    id              TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    at              INTEGER NOT NULL,
    body            TEXT NOT NULL,      -- JSON
    PRIMARY KEY (organization, id)
) WITHOUT ROWID;
CREATE INDEX receipts_at ON receipts (organization, at);

-- The facts that a note stated.
ALTER TABLE working_items ADD COLUMN states TEXT;  -- JSON list

CREATE INDEX facts_retracted ON facts (organization, owner, since) WHERE status = 'retracted';
