-- The turns that were observed: what each was called and what came of it, nothing of what it said.
CREATE TABLE turns (
    organization    TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    session_id      TEXT NOT NULL,
    turn_index      INTEGER NOT NULL,
    speaker         TEXT NOT NULL,
    at              INTEGER NOT NULL,
    digest          TEXT NOT NULL,
    ref             TEXT,
    fact_ids        TEXT,               -- JSON list
    verdict_ids     TEXT,               -- JSON list
    PRIMARY KEY (organization, user_id, session_id, turn_index)
) WITHOUT ROWID;
CREATE INDEX turns_ref ON turns (organization, user_id, ref) WHERE ref IS NOT NULL;

-- Where in its text a working item says what it states.
ALTER TABLE working_items ADD COLUMN spots TEXT;  -- JSON list of [fact id, text, start, end]

-- Every turn that is put on a desk looks for what has run out, on all desks.
CREATE INDEX working_items_expiry ON working_items (organization, expires_at)
    WHERE expires_at IS NOT NULL;
