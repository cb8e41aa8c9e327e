-- The turns in their words, by paragraphs: what was said and is no fact is found here.
CREATE TABLE passages (
    number          INTEGER PRIMARY KEY,
    organization    TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    session_id      TEXT NOT NULL,
    turn_index      INTEGER NOT NULL,
    place           INTEGER NOT NULL,   -- among the paragraphs of the turn
    speaker         TEXT NOT NULL,
    at              INTEGER NOT NULL,
    text            TEXT NOT NULL,
    states          TEXT,               -- JSON list
    spots           TEXT,               -- JSON list of [fact id, text, start, end]
    terms           TEXT NOT NULL,
    vector          BLOB                -- one signed byte a dimension
);
CREATE UNIQUE INDEX passages_place
    ON passages (organization, user_id, session_id, turn_index, place);

-- Postings: the row id is the number, a token is a mark of the person, an x and a term.
CREATE VIRTUAL TABLE passage_postings USING fts5 (
    tokens, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
);
