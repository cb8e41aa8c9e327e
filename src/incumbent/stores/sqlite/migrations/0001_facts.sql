-- Facts with their present tenure. Moments are microseconds since 1970, UTC.
-- "slot" is '' for the one valid fact of a single-valued address and the fact's own id otherwise,
-- so that one unique index finds live facts and keeps a second incumbent out.
CREATE TABLE facts (
    organization    TEXT NOT NULL,
    id              TEXT NOT NULL,
    seq             INTEGER NOT NULL,   -- log entry that brought it
    since           INTEGER NOT NULL,   -- log entry of its present tenure
    owner           TEXT NOT NULL,
    subject         TEXT NOT NULL,
    key             TEXT NOT NULL,
    value           TEXT NOT NULL,      -- canonical JSON
    source          TEXT NOT NULL,      -- JSON
    timestamp       INTEGER NOT NULL,
    recorded_at     INTEGER NOT NULL,
    valid_from      INTEGER NOT NULL,
    valid_until     INTEGER,
    memory_type     TEXT NOT NULL,
    scope           TEXT NOT NULL,
    scope_id        TEXT NOT NULL,
    authority       TEXT NOT NULL,
    requires        TEXT,               -- JSON list
    min_authority   TEXT,
    depends_on      TEXT,               -- JSON list
    when_superseded TEXT,
    is_constraint   INTEGER NOT NULL,
    constraint_type TEXT,
    multi_valued    INTEGER NOT NULL,
    time_sensitive  INTEGER NOT NULL,
    status          TEXT NOT NULL,
    superseded_by   TEXT,
    predecessors    TEXT,               -- JSON list
    started_at      INTEGER,
    ended_at        INTEGER,
    standing        TEXT NOT NULL,
    confirmed_at    INTEGER,
    awaits          TEXT,
    review          TEXT,               -- JSON: legs, causes, acknowledgements
    live            INTEGER NOT NULL,   -- in office, or with a term still to end
    slot            TEXT NOT NULL,
    flagged         INTEGER NOT NULL,   -- contested, or derived and in office: may be up for review
    ordinary        INTEGER NOT NULL    -- in office with no term and no condition on readers
);

CREATE UNIQUE INDEX facts_id ON facts (organization, id);
CREATE UNIQUE INDEX facts_live ON facts (organization, owner, key, subject, scope_id, scope, slot)
    WHERE live = 1;
CREATE INDEX facts_key ON facts (organization, owner, key, seq);
CREATE INDEX facts_awaits ON facts (organization, awaits) WHERE awaits IS NOT NULL;
CREATE INDEX facts_contingent ON facts (organization, when_superseded)
    WHERE when_superseded IS NOT NULL;
CREATE INDEX facts_flagged ON facts (organization, owner) WHERE flagged = 1;

-- Earlier tenures, known from entry "since" up to, not including, entry "until".
CREATE TABLE tenures (
    organization    TEXT NOT NULL,
    fact_id         TEXT NOT NULL,
    since           INTEGER NOT NULL,
    until           INTEGER NOT NULL,
    status          TEXT NOT NULL,
    superseded_by   TEXT,
    predecessors    TEXT,
    started_at      INTEGER,
    ended_at        INTEGER,
    standing        TEXT NOT NULL,
    confirmed_at    INTEGER,
    awaits          TEXT,
    review          TEXT,
    PRIMARY KEY (organization, fact_id, since)
) WITHOUT ROWID;

-- Which fact rests on which, and where that leg stands now.
CREATE TABLE dependencies (
    organization    TEXT NOT NULL,
    fact_id         TEXT NOT NULL,
    base_id         TEXT NOT NULL,
    stands_on       TEXT NOT NULL,
    PRIMARY KEY (organization, fact_id, base_id)
) WITHOUT ROWID;
CREATE INDEX dependencies_base ON dependencies (organization, base_id);
CREATE INDEX dependencies_stands_on ON dependencies (organization, stands_on);

-- The log. Appended to, never rewritten but for "undone_by" and by an erasure.
CREATE TABLE verdicts (
    organization    TEXT NOT NULL,
    seq             INTEGER NOT NULL,
    id              TEXT NOT NULL,
    action          TEXT NOT NULL,
    outcome         TEXT NOT NULL,
    rule            TEXT NOT NULL,
    fact_id         TEXT NOT NULL,
    superseded      TEXT,
    targets         TEXT,
    evidence        TEXT,
    confidence      REAL NOT NULL,
    by_user         TEXT NOT NULL,
    authority       TEXT NOT NULL,
    at              INTEGER NOT NULL,
    recorded_at     INTEGER NOT NULL,
    reason          TEXT,
    repair          TEXT,
    undone_by       TEXT,
    PRIMARY KEY (organization, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX verdicts_id ON verdicts (organization, id);
-- The verdict that brought a fact is found by the fact's own "seq".
CREATE INDEX verdicts_fact ON verdicts (organization, fact_id) WHERE action <> 'assert';

-- Which facts were named as superseded by which: an undo looks these links up both ways.
CREATE TABLE targets (
    organization    TEXT NOT NULL,
    target_id       TEXT NOT NULL,
    fact_id         TEXT NOT NULL,
    PRIMARY KEY (organization, target_id, fact_id)
) WITHOUT ROWID;

CREATE TABLE declarations (
    pattern         TEXT PRIMARY KEY,
    multi_valued    INTEGER NOT NULL,
    time_sensitive  INTEGER NOT NULL,
    write_authority TEXT,
    requires        TEXT NOT NULL
) WITHOUT ROWID;

-- Tells a process that holds the declarations in memory whether another has changed them.
CREATE TABLE declaration_version (version INTEGER NOT NULL);
INSERT INTO declaration_version VALUES (0);
CREATE TRIGGER declarations_inserted AFTER INSERT ON declarations
BEGIN UPDATE declaration_version SET version = version + 1; END;
CREATE TRIGGER declarations_updated AFTER UPDATE ON declarations
BEGIN UPDATE declaration_version SET version = version + 1; END;
