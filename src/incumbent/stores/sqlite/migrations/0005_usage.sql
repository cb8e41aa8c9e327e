-- What models were asked, in numbers: by organization, day and model. Nothing of what was said.
CREATE TABLE usage (
    organization    TEXT NOT NULL,
    day             TEXT NOT NULL,      -- ISO 8601, in UTC
    model           TEXT NOT NULL,
    calls           INTEGER NOT NULL,
    failed          INTEGER NOT NULL,
    turns           INTEGER NOT NULL,
    input_tokens    INTEGER NOT NULL,
    output_tokens   INTEGER NOT NULL,
    micros          INTEGER NOT NULL,   -- millionths of a currency
    PRIMARY KEY (organization, day, model)
) WITHOUT ROWID;
