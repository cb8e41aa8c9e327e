-- Layer 3: what a session has on its desk.
CREATE TABLE working_items (
    position        INTEGER PRIMARY KEY,
    organization    TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    session_id      TEXT NOT NULL,
    key             TEXT NOT NULL,
    value           TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER
);
CREATE UNIQUE INDEX working_items_key ON working_items (organization, user_id, session_id, key);

-- Proofs of what was forgotten. They name ids and counts, never content.
CREATE TABLE erasures (
    organization    TEXT NOT NULL,
    id              TEXT NOT NULL,
    proof           TEXT NOT NULL,
    PRIMARY KEY (organization, id)
) WITHOUT ROWID;
