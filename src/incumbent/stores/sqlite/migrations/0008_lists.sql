-- What lists go along: the first turn of each session by its time, the receipts of a person, the
-- subjects of live facts by their owner, and the entries of the log by whoever brought them about.
CREATE INDEX turns_begun ON turns (organization, at, user_id, session_id) WHERE turn_index = 1;
CREATE INDEX turns_begun_by ON turns (organization, user_id, at, session_id) WHERE turn_index = 1;
CREATE INDEX receipts_of ON receipts (organization, user_id, at);
CREATE INDEX facts_about ON facts (organization, owner, subject) WHERE live = 1 AND subject <> '';
CREATE INDEX verdicts_by ON verdicts (organization, by_user, seq);
