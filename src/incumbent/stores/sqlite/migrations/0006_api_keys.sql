-- Keys that let programs in over a network. Only the digest of what was handed out is kept.
CREATE TABLE api_keys (
    id              TEXT PRIMARY KEY,
    organization    TEXT NOT NULL,
    name            TEXT NOT NULL,
    scopes          TEXT NOT NULL,      -- JSON list
    max_authority   TEXT NOT NULL,
    user_id         TEXT,               -- whom it speaks for; NULL for many
    permissions     TEXT,               -- JSON list
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER,
    revoked_at      INTEGER,
    digest          TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX api_keys_organization ON api_keys (organization, id);
