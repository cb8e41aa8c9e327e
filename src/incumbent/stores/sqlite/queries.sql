-- Every statement the SQLite store runs. "-- name: x" starts one; the lines under it say why.
-- Placeholders in braces are filled by the loader with column lists or "?, ?, ...", never values.

-- name: head
SELECT seq, recorded_at FROM verdicts WHERE organization = :organization
ORDER BY seq DESC LIMIT 1;

-- name: recorded_at
SELECT recorded_at FROM verdicts WHERE organization = :organization AND seq = :seq;

-- name: fact
SELECT {fact} FROM facts WHERE organization = :organization AND id = :id;

-- name: facts
SELECT {fact} FROM facts WHERE organization = :organization AND id IN ({ids}) ORDER BY id;

-- name: facts_since
SELECT {fact}, since FROM facts WHERE organization = :organization AND id IN ({ids});

-- name: changed_since
-- Tells whether a fact that was read before is still the same.
SELECT id, since, status FROM facts WHERE organization = :organization AND id IN ({ids});

-- name: live
-- The index is named because the planner would rather walk all ids than sort a handful of rows.
SELECT {fact} FROM facts INDEXED BY facts_live
WHERE organization = :organization AND live = 1 {where} ORDER BY +id;

-- name: live_said
-- Of the facts without a name, those that say the same, however many there are.
SELECT {fact} FROM facts INDEXED BY facts_said
WHERE organization = :organization AND live = 1 AND key = '' {where} ORDER BY +id;

-- name: owned
SELECT {fact} FROM facts INDEXED BY facts_live
WHERE organization = :organization AND live = 1 AND owner = :owner LIMIT :limit;

-- name: live_at
-- The addresses lead, so that each is one probe of the index.
WITH wanted (whose, about, called, within, id_of_scope) AS (VALUES {addresses})
SELECT {fact} FROM wanted CROSS JOIN facts INDEXED BY facts_live
WHERE organization = ? AND live = 1 AND owner = whose AND key = called AND subject = about
  AND scope_id = id_of_scope AND scope = within;

-- name: met
-- The matters lead, so that each is one probe of the index, whatever holds office there.
WITH wanted (called, about) AS (VALUES {matters})
SELECT called, about FROM wanted WHERE EXISTS (
    SELECT 1 FROM facts INDEXED BY facts_live
    WHERE organization = ? AND live = 1 AND owner IN ({owners}) AND key = called
        AND subject = about);

-- name: live_of
-- One probe of the index; the loader joins as many as there are owners and scopes.
SELECT {fact} FROM facts INDEXED BY facts_live
WHERE organization = ?1 AND live = 1 AND key = ?2 AND subject = ?3
  AND owner = {owner} AND scope_id = {scope_id};

-- name: live_of_all
-- A matter, whoever owns what is said of it. Owners are walked along the index, one probe each,
-- instead of all facts.
WITH RECURSIVE owners (whose) AS (
    SELECT min(owner) FROM facts INDEXED BY facts_live
    WHERE organization = :organization AND live = 1
    UNION ALL
    SELECT (SELECT min(owner) FROM facts INDEXED BY facts_live
        WHERE organization = :organization AND live = 1 AND owner > whose)
    FROM owners WHERE whose IS NOT NULL
)
SELECT {fact} FROM owners CROSS JOIN facts INDEXED BY facts_live
WHERE organization = :organization AND live = 1 AND owner = whose AND key = :key
  AND subject = :subject ORDER BY +id;

-- name: glance
-- Likewise, for one address: at most one row.
SELECT value, ordinary, (SELECT version FROM declaration_version) FROM facts INDEXED BY facts_live
WHERE organization = ?1 AND live = 1 AND key = ?2 AND subject = ?3
  AND owner = {owner} AND scope_id = {scope_id} AND scope = {scope};

-- name: timeline
SELECT {fact} FROM facts
WHERE organization = :organization AND status <> 'erased' {where} ORDER BY +seq, +id;

-- name: known
-- The present tenure where it is old enough, else the earlier one of that entry.
SELECT {content}, {tenure_of_f} FROM facts AS f
WHERE f.organization = :organization AND f.since <= :seq AND f.status <> 'erased' {where}
UNION ALL
SELECT {content}, {tenure_of_t} FROM facts AS f JOIN tenures AS t
    ON t.organization = f.organization AND t.fact_id = f.id
   AND t.since <= :seq AND t.until > :seq
WHERE f.organization = :organization AND f.seq <= :seq AND f.since > :seq
  AND f.status <> 'erased' {where}
ORDER BY 2, 1;

-- name: known_facts
SELECT {content}, {tenure_of_f} FROM facts AS f INDEXED BY facts_id
WHERE f.organization = :organization AND f.since <= :seq AND f.status <> 'erased'
  AND f.id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT {content}, {tenure_of_t} FROM facts AS f INDEXED BY facts_id CROSS JOIN tenures AS t
    ON t.organization = f.organization AND t.fact_id = f.id
   AND t.since <= :seq AND t.until > :seq
WHERE f.organization = :organization AND f.seq <= :seq AND f.since > :seq
  AND f.status <> 'erased' AND f.id IN (SELECT value FROM json_each(:ids))
ORDER BY 2, 1;

-- name: standing_on
SELECT {fact} FROM facts WHERE organization = :organization AND status = 'office' AND id IN (
    SELECT fact_id FROM dependencies WHERE organization = :organization AND stands_on IN ({ids})
) ORDER BY id;

-- name: derived_from
SELECT {fact} FROM facts WHERE organization = :organization AND id IN (
    SELECT fact_id FROM dependencies
    WHERE organization = :organization AND base_id IN ({ids}) AND stands_on <> ''
) ORDER BY id;

-- name: doubting
-- What a fact doubts is among the dependencies, with nothing that it stands on.
SELECT {fact} FROM facts WHERE organization = :organization AND live = 1 AND id IN (
    SELECT fact_id FROM dependencies
    WHERE organization = :organization AND base_id IN ({ids}) AND stands_on = ''
) ORDER BY +id;

-- name: ever_doubting
SELECT {fact} FROM facts WHERE organization = :organization AND status <> 'erased' AND id IN (
    SELECT fact_id FROM dependencies
    WHERE organization = :organization AND base_id IN ({ids}) AND stands_on = ''
) ORDER BY +id;

-- name: waiting_on
-- In this and the next, "+id" keeps the planner from walking every id to save a small sort.
SELECT {fact} FROM facts INDEXED BY facts_awaits
WHERE organization = :organization AND awaits IN ({ids}) AND status = 'waiting' ORDER BY +id;

-- name: contingent_on
SELECT {fact} FROM facts INDEXED BY facts_contingent
WHERE organization = :organization AND when_superseded IN ({ids}) ORDER BY +id;

-- name: contested
SELECT {fact} FROM facts INDEXED BY facts_flagged
WHERE organization = :organization AND flagged = 1 AND status = 'contested' {where} ORDER BY +id;

-- name: unapproved
SELECT {fact} FROM facts INDEXED BY facts_flagged
WHERE organization = :organization AND flagged = 1 AND status = 'waiting' {where} ORDER BY +id;

-- name: derived
-- Some of what is flagged is so for other reasons.
SELECT {fact} FROM facts INDEXED BY facts_flagged
WHERE organization = :organization AND flagged = 1 AND status = 'office' {where} ORDER BY +id;

-- name: doubters
SELECT {fact} FROM facts INDEXED BY facts_flagged
WHERE organization = :organization AND flagged = 1 AND live = 1 {where} ORDER BY +id;

-- name: verdict
SELECT {verdict} FROM verdicts WHERE organization = :organization AND id = :id;

-- name: verdicts
SELECT {verdict} FROM verdicts WHERE organization = :organization AND seq IN (
    SELECT seq FROM facts WHERE organization = :organization AND id IN ({ids})
    UNION
    SELECT seq FROM verdicts INDEXED BY verdicts_fact
    WHERE organization = :organization AND action <> 'assert' AND fact_id IN ({ids})
) ORDER BY +seq;

-- name: log
SELECT {verdict} FROM verdicts WHERE organization = :organization AND seq > :after
ORDER BY seq LIMIT :limit;

-- name: insert_fact
-- Nothing for an id that is taken.
INSERT INTO facts ({fact_columns}) VALUES ({fact_values})
ON CONFLICT (organization, id) DO NOTHING;

-- name: restore_fact
INSERT INTO facts ({fact_columns}) VALUES ({fact_values});

-- name: keep_tenure
-- A tenure that both begins and ends within one entry was never known to anybody.
INSERT INTO tenures (organization, fact_id, since, until, {tenure})
SELECT organization, id, since, :seq, {tenure} FROM facts
WHERE organization = :organization AND id = :id AND since < :seq;

-- name: change_tenure
UPDATE facts SET since = :seq, {tenure_assignments}, live = :live, slot = :slot,
    flagged = :flagged, ordinary = :ordinary
WHERE organization = :organization AND id = :id;

-- name: insert_dependency
INSERT INTO dependencies (organization, fact_id, base_id, stands_on)
VALUES (:organization, :fact_id, :base_id, :stands_on)
ON CONFLICT (organization, fact_id, base_id) DO UPDATE SET stands_on = excluded.stands_on;

-- name: insert_verdict
INSERT INTO verdicts ({verdict}) VALUES ({verdict_values});

-- name: restore_verdict
INSERT INTO verdicts ({verdict}) VALUES ({verdict_values});

-- name: insert_target
INSERT OR IGNORE INTO targets (organization, target_id, fact_id)
VALUES (:organization, :target_id, :fact_id);

-- name: naming
SELECT DISTINCT fact_id FROM targets
WHERE organization = :organization AND target_id IN ({ids}) ORDER BY fact_id;

-- name: mark_undone
UPDATE verdicts SET undone_by = :undone_by WHERE organization = :organization AND id = :id;

-- name: declarations
SELECT pattern, multi_valued, time_sensitive, write_authority, requires FROM declarations
ORDER BY pattern;

-- name: declaration_version
SELECT version FROM declaration_version;

-- name: declare
INSERT INTO declarations (pattern, multi_valued, time_sensitive, write_authority, requires)
VALUES (:pattern, :multi_valued, :time_sensitive, :write_authority, :requires)
ON CONFLICT (pattern) DO UPDATE SET multi_valued = excluded.multi_valued,
    time_sensitive = excluded.time_sensitive, write_authority = excluded.write_authority,
    requires = excluded.requires;

-- name: working_items
SELECT user_id, session_id, key, value, created_at, expires_at, states, spots FROM working_items
WHERE organization = :organization {where} ORDER BY position;

-- name: put_item
INSERT INTO working_items
    (organization, user_id, session_id, key, value, created_at, expires_at, states, spots)
VALUES (:organization, :user_id, :session_id, :key, :value, :created_at, :expires_at, :states,
    :spots);

-- name: drop_items
DELETE FROM working_items WHERE organization = :organization {where};

-- name: turns
SELECT {turn} FROM turns
WHERE organization = :organization AND user_id = :user_id AND session_id = :session_id
ORDER BY turn_index DESC LIMIT :limit;

-- name: turns_called
-- Left to itself the planner walks along all turns of the user.
SELECT {turn} FROM turns INDEXED BY turns_ref
WHERE organization = :organization AND user_id = :user_id AND ref = :ref
ORDER BY at, session_id, turn_index;

-- name: put_turn
INSERT OR REPLACE INTO turns (organization, user_id, {turn})
VALUES (:organization, :user_id, {turn_values});

-- name: passages
SELECT number, {passage} FROM passages
WHERE organization = :organization AND number > :after {where} ORDER BY number LIMIT :limit;

-- name: passages_numbered
SELECT number, {passage} FROM passages
WHERE number IN ({ids}) AND +organization = :organization;

-- name: passage_numbers
SELECT number FROM passages WHERE organization = :organization {where};

-- name: passage_count
SELECT count(*) FROM passages WHERE organization = :organization AND user_id = :user_id;

-- name: passages_under
SELECT rowid FROM passage_postings WHERE passage_postings MATCH :match
ORDER BY rowid DESC LIMIT :limit;

-- name: passage_at
SELECT number FROM passages WHERE organization = :organization AND user_id = :user_id
  AND session_id = :session_id AND turn_index = :turn_index AND place = :place;

-- name: next_passage
SELECT coalesce(max(number), 0) + 1 FROM passages;

-- name: put_passage
INSERT INTO passages (number, organization, {passage})
VALUES (:number, :organization, {passage_values});

-- name: drop_passage
DELETE FROM passages WHERE organization = :organization AND number = :number;

-- name: post_passage
INSERT INTO passage_postings (rowid, tokens) VALUES (?, ?);

-- name: unpost_passage
-- The tokens have to be those that were posted.
INSERT INTO passage_postings (passage_postings, rowid, tokens) VALUES ('delete', ?, ?);

-- name: merge_passage_postings
INSERT INTO passage_postings (passage_postings) VALUES ('optimize');

-- name: drop_turns
DELETE FROM turns WHERE organization = :organization {where};

-- name: usage
SELECT {usage} FROM usage WHERE organization = :organization AND day >= :since
ORDER BY day, model;

-- name: count_usage
INSERT INTO usage (organization, {usage}) VALUES (:organization, {usage_values})
ON CONFLICT (organization, day, model) DO UPDATE SET {usage_sums};

-- name: erase_fact
UPDATE facts SET owner = '', subject = '', key = '', value = 'null', source = '{{}}',
    timestamp = 0, recorded_at = 0, valid_from = 0, valid_until = NULL, memory_type = 'user',
    scope = 'global', scope_id = '', authority = '', requires = NULL, min_authority = NULL,
    depends_on = NULL, when_superseded = NULL, is_constraint = 0, constraint_type = NULL,
    multi_valued = 0, time_sensitive = 0, status = 'erased', started_at = NULL, ended_at = NULL,
    standing = '', confirmed_at = NULL, awaits = NULL, review = NULL, live = 0, slot = '',
    flagged = 0, ordinary = 0
WHERE organization = :organization AND id = :id;

-- name: erase_digests
-- Before the facts are emptied: their owners are asked for. What is left is the mark of a turn.
UPDATE turns SET digest = substr(digest, 1, instr(digest, '$'))
WHERE organization = :organization AND digest <> substr(digest, 1, instr(digest, '$'))
    AND user_id IN (
        SELECT t.user_id FROM turns AS t, json_each(coalesce(t.fact_ids, '[]')) AS stated
        WHERE t.organization = :organization
            AND stated.value IN (SELECT value FROM json_each(:ids))
        UNION
        SELECT owner FROM facts WHERE organization = :organization
            AND id IN (SELECT value FROM json_each(:ids)));

-- name: erase_tenures
DELETE FROM tenures WHERE organization = :organization AND fact_id = :id;

-- name: erase_dependencies
DELETE FROM dependencies WHERE organization = :organization AND fact_id = :id;

-- name: count_reasons
SELECT count(*) FROM verdicts WHERE organization = :organization AND reason IS NOT NULL
    AND (fact_id = :id OR seq = (
        SELECT seq FROM facts WHERE organization = :organization AND id = :id));

-- name: erase_reasons
UPDATE verdicts SET reason = NULL, by_user = '' WHERE organization = :organization AND seq IN (
    SELECT seq FROM facts WHERE organization = :organization AND id = :id
    UNION
    SELECT seq FROM verdicts
    WHERE organization = :organization AND action <> 'assert' AND fact_id = :id);

-- name: erase_reason
UPDATE verdicts SET reason = NULL
WHERE organization = :organization AND id = :id AND reason IS NOT NULL;

-- name: erase_author
UPDATE verdicts SET by_user = '' WHERE organization = :organization AND by_user = :user_id;

-- name: insert_erasure
INSERT INTO erasures (organization, id, proof) VALUES (:organization, :id, :proof);

-- name: erasures
SELECT proof FROM erasures WHERE organization = :organization AND id > :after ORDER BY id;

-- name: organizations
-- A loose index scan: one seek per organization instead of a pass over the log.
WITH RECURSIVE names (name) AS (
    SELECT min(organization) FROM verdicts
    UNION ALL
    SELECT (SELECT min(organization) FROM verdicts WHERE organization > name)
    FROM names WHERE name IS NOT NULL
)
SELECT name FROM names WHERE name IS NOT NULL;

-- name: dump_facts
SELECT {fact}, seq, since FROM facts WHERE organization = :organization ORDER BY seq, id;

-- name: dump_tenures
SELECT {content}, {tenure_of_t}, t.since, t.until FROM facts AS f JOIN tenures AS t
    ON t.organization = f.organization AND t.fact_id = f.id
WHERE f.organization = :organization ORDER BY t.fact_id, t.since;

-- name: dump_verdicts
SELECT {verdict} FROM verdicts WHERE organization = :organization ORDER BY seq;

-- name: insert_tenure
INSERT INTO tenures (organization, fact_id, since, until, {tenure})
VALUES (:organization, :id, :since, :until, {tenure_values});

-- name: retracted
SELECT {fact}, since FROM facts INDEXED BY facts_retracted
WHERE organization = :organization AND status = 'retracted' {where}
ORDER BY since DESC, id LIMIT :limit;

-- name: recipe
SELECT recipe FROM recipes WHERE organization = :organization;

-- name: set_recipe
INSERT INTO recipes (organization, recipe) VALUES (:organization, :recipe)
ON CONFLICT (organization) DO UPDATE SET recipe = excluded.recipe;

-- name: shelves
SELECT id, owner, scope, scope_id, requires, min_authority, binding, version FROM shelves
WHERE organization = :organization AND owner = :owner AND scope_id = :scope_id AND scope = :scope;

-- name: own_shelves
-- Shelves are numbered over all organizations, and a reader has to keep to its own.
SELECT id FROM shelves WHERE id IN ({ids}) AND +organization = :organization;

-- name: insert_shelf
INSERT OR IGNORE INTO shelves
    (organization, owner, scope, scope_id, requires, min_authority, binding, version)
VALUES (?, ?, ?, ?, ?, ?, ?, 0);

-- name: shelf_id
SELECT id FROM shelves WHERE organization = ? AND owner = ? AND scope = ? AND scope_id = ?
    AND requires = ? AND min_authority = ? AND binding = ?;

-- name: bump_shelf
UPDATE shelves SET version = version + 1 WHERE id = ?;

-- name: shelf_version
SELECT version FROM shelves WHERE id = ?;

-- name: placed
SELECT entry, changed, live, starts, ends, derived, length, key, probes, vector FROM entries
WHERE shelf = :shelf AND changed > :after AND +organization = :organization
ORDER BY changed, entry;

-- name: tenured
-- The entries lead: each finds its fact by one probe.
SELECT e.entry, e.fact_id, e.key, f.subject, e.terms, e.probes, e.derived, f.multi_valued, f.seq,
    f.timestamp, f.since, f.status, f.started_at,
    coalesce(min(f.ended_at, f.valid_until), f.ended_at, f.valid_until)
FROM entries AS e CROSS JOIN facts AS f INDEXED BY facts_id
WHERE e.shelf = :shelf AND e.changed > :after AND +e.organization = :organization
  AND f.organization = :organization AND f.id = e.fact_id;

-- name: tenured_before
SELECT e.entry, t.since, t.until, t.status, t.started_at,
    coalesce(min(t.ended_at, f.valid_until), t.ended_at, f.valid_until)
FROM entries AS e CROSS JOIN tenures AS t CROSS JOIN facts AS f INDEXED BY facts_id
WHERE e.shelf = :shelf AND e.changed > :after AND +e.organization = :organization
  AND t.organization = :organization AND t.fact_id = e.fact_id
  AND f.organization = :organization AND f.id = e.fact_id;

-- name: postings
SELECT rowid FROM postings WHERE postings MATCH ? ORDER BY rowid LIMIT ?;

-- name: post
INSERT INTO postings (rowid, tokens) VALUES (?, ?);

-- name: unpost
-- The tokens have to be those that were posted: they are made of the entry's own terms.
INSERT INTO postings (postings, rowid, tokens) VALUES ('delete', ?, ?);

-- name: merge_postings
-- Removed tokens stay in the segments of the index until they are merged.
INSERT INTO postings (postings) VALUES ('optimize');

-- name: found
-- "+" keeps the planner from walking the organization's whole index instead.
SELECT entry, fact_id, key, terms, tokens, vector FROM entries
WHERE entry IN ({ids}) AND +organization = :organization;

-- name: entries_of
SELECT entry, fact_id, key, terms, tokens, vector FROM entries
WHERE organization = :organization AND fact_id IN ({ids});

-- name: entry_of
SELECT entry, shelf, terms, live, starts, ends FROM entries
WHERE organization = :organization AND fact_id = :fact_id;

-- name: some_entries
SELECT entry, shelf, live, terms FROM entries WHERE organization = :organization LIMIT :limit;

-- name: last_entry
SELECT coalesce(max(entry), 0) FROM entries;

-- name: insert_entry
INSERT OR IGNORE INTO entries (changed, live, starts, ends, derived, length, tokens, key, terms,
    probes, vector, shelf, organization, fact_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: replace_entry
UPDATE entries SET changed = ?, live = ?, starts = ?, ends = ?, derived = ?, length = ?, tokens = ?,
    key = ?, terms = ?, probes = ?, vector = ?, shelf = ? WHERE organization = ? AND fact_id = ?;

-- name: delete_shelves
DELETE FROM shelves WHERE organization = :organization;

-- name: move_entry
UPDATE entries SET live = :live, starts = :starts, ends = :ends, changed = :changed
WHERE entry = :entry;

-- name: touch_entry
UPDATE entries SET changed = :changed WHERE entry = :entry;

-- name: empty_entry
UPDATE entries SET live = 0, starts = NULL, ends = NULL, derived = 0, length = 0, tokens = 0,
    key = '', terms = '', probes = '', vector = NULL, changed = :changed WHERE entry = :entry;

-- name: drop_bare_shelves
-- A shelf tells whose facts stand on it, and goes with the last of them.
DELETE FROM shelves WHERE id IN (SELECT value FROM json_each(:ids)) AND NOT EXISTS (
    SELECT 1 FROM entries AS e CROSS JOIN facts AS f
    WHERE e.shelf = shelves.id AND f.organization = e.organization AND f.id = e.fact_id
      AND f.status <> 'erased');

-- name: delete_entry
DELETE FROM entries WHERE entry = :entry;

-- name: unindexed
SELECT {fact} FROM facts WHERE organization = :organization AND id > :after
    AND status <> 'erased' AND NOT EXISTS (SELECT 1 FROM entries AS e
        WHERE e.organization = facts.organization AND e.fact_id = facts.id)
ORDER BY id LIMIT :limit;

-- name: receipt
SELECT id, user_id, at, body FROM receipts WHERE organization = :organization AND id = :id;

-- name: receipts
SELECT id, user_id, at, body FROM receipts INDEXED BY receipts_at
WHERE organization = :organization {where} ORDER BY at DESC, id LIMIT :limit;

-- name: receipts_of
SELECT id, user_id, at, body FROM receipts INDEXED BY receipts_of
WHERE organization = :organization AND user_id = :user_id {where}
ORDER BY at DESC, id LIMIT :limit;

-- name: put_receipt
INSERT INTO receipts (organization, id, user_id, at, body)
VALUES (:organization, :id, :user_id, :at, :body)
ON CONFLICT (organization, id) DO UPDATE
SET user_id = excluded.user_id, at = excluded.at, body = excluded.body;

-- name: drop_receipts
DELETE FROM receipts WHERE organization = :organization {where};

-- name: add_key
INSERT OR IGNORE INTO api_keys ({key}) VALUES ({key_values});

-- name: key
SELECT {key} FROM api_keys WHERE id = :id;

-- name: keys
SELECT {key} FROM api_keys WHERE organization = :organization ORDER BY id;

-- name: all_keys
SELECT {key} FROM api_keys ORDER BY id;

-- name: revoke_key
-- The first revocation stands.
UPDATE api_keys SET revoked_at = coalesce(revoked_at, :at) WHERE id = :id;

-- name: drop_keys
DELETE FROM api_keys WHERE organization = :organization AND user_id = :user_id;

-- name: log_before
SELECT {verdict} FROM verdicts WHERE organization = :organization AND seq < :before
ORDER BY seq DESC LIMIT :limit;

-- name: users
-- A loose index scan over four tables at once: four seeks for each user, whatever they have. The
-- first row is where it begins; after each user comes the next text that can be there.
WITH RECURSIVE walk (name, tail) AS (
    VALUES (:begin, '')
    UNION ALL
    SELECT (SELECT min(found) FROM (
        SELECT min(owner) AS found FROM facts INDEXED BY facts_key
        WHERE organization = :organization AND owner >= name || tail
        UNION ALL
        SELECT min(user_id) FROM turns INDEXED BY turns_begun_by
        WHERE organization = :organization AND turn_index = 1 AND user_id >= name || tail
        UNION ALL
        SELECT min(user_id) FROM receipts INDEXED BY receipts_of
        WHERE organization = :organization AND user_id >= name || tail
        UNION ALL
        SELECT min(by_user) FROM verdicts INDEXED BY verdicts_by
        WHERE organization = :organization AND by_user >= name || tail)), char(1)
    FROM walk WHERE name IS NOT NULL
)
SELECT name FROM walk WHERE tail <> '' AND name IS NOT NULL LIMIT :limit;

-- name: activity
SELECT value, (
    SELECT count(*) FROM turns INDEXED BY turns_begun_by
    WHERE organization = :organization AND turn_index = 1 AND user_id = value
), (
    SELECT recorded_at FROM verdicts INDEXED BY verdicts_by
    WHERE organization = :organization AND by_user = value ORDER BY seq DESC LIMIT 1
) FROM json_each(:users) ORDER BY value;

-- name: subjects
-- A loose index scan, a seek for each owner and one for each of their subjects. What an owner begins
-- with is looked up for all of them; the queue then gives the least, as often as it is asked.
WITH RECURSIVE owners (whose) AS (
    SELECT value FROM json_each(coalesce(:owners, json_array((
        SELECT min(owner) FROM facts INDEXED BY facts_about
        WHERE organization = :organization AND live = 1 AND subject <> '' AND owner >= :owner))))
    UNION ALL
    SELECT (SELECT min(owner) FROM facts INDEXED BY facts_about
        WHERE organization = :organization AND live = 1 AND subject <> '' AND owner > whose)
    FROM owners WHERE :owners IS NULL AND whose IS NOT NULL
),
walk (whose, name) AS (
    SELECT whose, (SELECT min(subject) FROM facts INDEXED BY facts_about
        WHERE organization = :organization AND live = 1 AND subject <> '' AND owner = whose
          AND subject >= CASE whose WHEN :owner THEN :begin ELSE :prefix END)
    FROM owners WHERE whose >= :owner
    UNION ALL
    SELECT whose, (SELECT min(subject) FROM facts INDEXED BY facts_about
        WHERE organization = :organization AND live = 1 AND subject <> '' AND owner = whose
          AND subject > name)
    FROM walk WHERE name IS NOT NULL AND (:end IS NULL OR name < :end)
    ORDER BY 1, 2
)
SELECT whose, name FROM walk WHERE name IS NOT NULL AND (:end IS NULL OR name < :end)
LIMIT :limit;

-- name: keys_held
-- A loose index scan, a seek for each owner and one for each of their keys. What an owner begins
-- with is looked up for all of them; the queue then gives the least, as often as it is asked.
WITH RECURSIVE owners (whose) AS (
    SELECT value FROM json_each(coalesce(:owners, json_array((
        SELECT min(owner) FROM facts INDEXED BY facts_live
        WHERE organization = :organization AND live = 1 AND owner >= :owner))))
    UNION ALL
    SELECT (SELECT min(owner) FROM facts INDEXED BY facts_live
        WHERE organization = :organization AND live = 1 AND owner > whose)
    FROM owners WHERE :owners IS NULL AND whose IS NOT NULL
),
walk (whose, name) AS (
    SELECT whose, (SELECT min(key) FROM facts INDEXED BY facts_live
        WHERE organization = :organization AND live = 1 AND owner = whose
          AND key >= CASE whose WHEN :owner THEN :begin ELSE :prefix END)
    FROM owners WHERE whose >= :owner
    UNION ALL
    SELECT whose, (SELECT min(key) FROM facts INDEXED BY facts_live
        WHERE organization = :organization AND live = 1 AND owner = whose
          AND key > name)
    FROM walk WHERE name IS NOT NULL AND (:end IS NULL OR name < :end)
    ORDER BY 1, 2
)
SELECT whose, name FROM walk WHERE name IS NOT NULL AND (:end IS NULL OR name < :end)
LIMIT :limit;

-- name: alike_subjects
SELECT f.owner, f.subject, f.key, count(*), max(f.recorded_at), min(f.id)
FROM json_each(:owners) AS o JOIN json_each(:names) AS n ON n.key = o.key
CROSS JOIN facts AS f INDEXED BY facts_about
WHERE f.organization = :organization AND f.live = 1 AND f.subject <> '' AND f.owner = o.value
  AND f.subject = n.value
GROUP BY f.owner, f.subject, f.key, f.scope, f.scope_id, f.memory_type, f.requires,
    f.min_authority, CASE WHEN f.status = 'office' AND f.started_at <= :now
        AND f.valid_until IS NULL AND f.ended_at IS NULL THEN '' ELSE f.id END;

-- name: alike_keys
SELECT f.owner, f.subject, f.key, count(*), max(f.recorded_at), min(f.id)
FROM json_each(:owners) AS o JOIN json_each(:names) AS n ON n.key = o.key
CROSS JOIN facts AS f INDEXED BY facts_live
WHERE f.organization = :organization AND f.live = 1 AND f.owner = o.value
  AND f.key = n.value
GROUP BY f.owner, f.subject, f.key, f.scope, f.scope_id, f.memory_type, f.requires,
    f.min_authority, CASE WHEN f.status = 'office' AND f.started_at <= :now
        AND f.valid_until IS NULL AND f.ended_at IS NULL THEN '' ELSE f.id END;

-- name: holdings
-- In the order in which they were recorded, which is that of the rows: each page is read once.
SELECT f.owner, '', '', count(*), max(f.recorded_at), min(f.id)
FROM json_each(:owners) AS o CROSS JOIN facts AS f INDEXED BY facts_recorded
WHERE f.organization = :organization AND f.live = 1 AND f.owner = o.value
GROUP BY f.owner, CASE WHEN f.status = 'office' AND f.started_at <= :now
    AND f.valid_until IS NULL AND f.ended_at IS NULL THEN '' ELSE f.id END;

-- name: sessions
-- By their first turns; the last of each is one more seek.
SELECT session_id, user_id, at, (
    SELECT l.at FROM turns AS l WHERE l.organization = :organization
        AND l.user_id = turns.user_id AND l.session_id = turns.session_id
        ORDER BY l.turn_index DESC LIMIT 1
), (
    SELECT max(l.turn_index) FROM turns AS l WHERE l.organization = :organization
        AND l.user_id = turns.user_id AND l.session_id = turns.session_id
) FROM turns INDEXED BY turns_begun
WHERE organization = :organization AND turn_index = 1 {where}
ORDER BY turns.at DESC, user_id DESC, session_id DESC LIMIT :limit;

-- name: sessions_of
SELECT session_id, user_id, at, (
    SELECT l.at FROM turns AS l WHERE l.organization = :organization
        AND l.user_id = turns.user_id AND l.session_id = turns.session_id
        ORDER BY l.turn_index DESC LIMIT 1
), (
    SELECT max(l.turn_index) FROM turns AS l WHERE l.organization = :organization
        AND l.user_id = turns.user_id AND l.session_id = turns.session_id
) FROM turns INDEXED BY turns_begun_by
WHERE organization = :organization AND turn_index = 1 AND user_id = :user_id {where}
ORDER BY turns.at DESC, session_id DESC LIMIT :limit;

-- name: set_savepoint
-- One name is enough: the latest of that name is the one that is returned to.
SAVEPOINT taken_back;

-- name: return_to_savepoint
ROLLBACK TO SAVEPOINT taken_back;

-- name: verdicts_by_id
SELECT {verdict} FROM verdicts WHERE organization = :organization AND id IN ({ids});

-- name: recorded
SELECT {fact} FROM facts INDEXED BY facts_recorded
WHERE organization = :organization AND owner = :owner {where}
ORDER BY recorded_at DESC, id DESC LIMIT :limit;

-- name: recorded_at_key
-- Facts are recorded in the order of the log.
SELECT {fact} FROM facts INDEXED BY facts_key
WHERE organization = :organization AND owner = :owner {where}
ORDER BY seq DESC, id DESC LIMIT :limit;

-- name: live_at_key
SELECT count(*) FROM (SELECT 1 FROM facts INDEXED BY facts_live
    WHERE organization = :organization AND live = 1 AND owner = :owner AND key = :key
    LIMIT :limit);

-- name: recorded_live
SELECT {fact} FROM facts INDEXED BY facts_live
WHERE organization = :organization AND owner = :owner AND live = 1 {where}
ORDER BY recorded_at DESC, id DESC LIMIT :limit;

-- name: recorded_about
SELECT {fact} FROM facts INDEXED BY facts_about
WHERE organization = :organization AND owner = :owner AND live = 1 AND subject <> '' {where}
ORDER BY recorded_at DESC, id DESC LIMIT :limit;

-- name: recorded_derived
SELECT {fact} FROM (SELECT DISTINCT fact_id FROM dependencies
    WHERE organization = :organization AND stands_on <> '')
CROSS JOIN facts INDEXED BY facts_id
WHERE organization = :organization AND id = fact_id AND +owner = :owner {where}
ORDER BY recorded_at DESC, id DESC LIMIT :limit;

-- name: branches
SELECT DISTINCT scope, scope_id FROM facts INDEXED BY facts_branched
WHERE organization = :organization AND live = 1 AND scope IN ('draft', 'hypothetical')
  AND owner IN (SELECT value FROM json_each(:owners))
  AND (scope, scope_id) > (:scope, :scope_id)
ORDER BY scope, scope_id LIMIT :limit;

-- name: branched
SELECT owner, subject, key, count(*), max(recorded_at), min(id)
FROM facts INDEXED BY facts_branched
WHERE organization = :organization AND live = 1 AND scope IN ('draft', 'hypothetical')
  AND owner IN (SELECT value FROM json_each(:owners)) {where}
GROUP BY owner, subject, key, scope, scope_id, memory_type, requires, min_authority,
    CASE WHEN status = 'office' AND started_at <= :now
        AND valid_until IS NULL AND ended_at IS NULL THEN '' ELSE id END;

-- name: turns_after
SELECT {turn} FROM turns
WHERE organization = :organization AND user_id = :user_id AND session_id = :session_id
  AND turn_index > :index
ORDER BY turn_index LIMIT :limit;

-- name: verdict_counts
SELECT recorded_at / :day, action, outcome, rule, count(*) FROM verdicts
WHERE organization = :organization AND seq > :after AND seq <= :last
GROUP BY 1, 2, 3, 4;

-- name: fact_counts
-- Only what is flagged can have a cause for review, or be contested.
SELECT (
    SELECT count(*) FROM facts WHERE organization = :organization AND {held}
), (
    SELECT count(*) FROM facts INDEXED BY facts_flagged
    WHERE organization = :organization AND flagged = 1 AND status = 'office'
      AND json_array_length(review, '$.causes') > 0
), (
    SELECT count(*) FROM facts INDEXED BY facts_flagged
    WHERE organization = :organization AND flagged = 1 AND status = 'contested'
);
