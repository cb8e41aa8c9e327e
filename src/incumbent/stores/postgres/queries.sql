-- Every statement the PostgreSQL store runs. "-- name: x" starts one; the lines under it say why.
-- Placeholders in braces are filled by the loader with column lists, never values.
-- Each names its organization, although row-level security would see to it: that is how the
-- planner finds the one partition. Every transaction takes the role and the schema for itself: what
-- was set for a connection does not hold behind a pooler that hands it out by transaction.

-- name: prepare_reading
-- Once for each connection: planning takes longer than the beginning of a transaction itself.
PREPARE incumbent_settings (text, text, text) AS SELECT
    set_config('role', '{role}', true), set_config('search_path', '{schema}, pg_temp', true),
    set_config('incumbent.organization', $1, true), set_config('incumbent.person', $2, true),
    set_config('incumbent.everybody', $3, true);
PREPARE incumbent_versions AS SELECT declarations, erasures FROM versions;
PREPARE incumbent_standing (text, bigint) AS SELECT {standing}, marks[1], marks[revision - $2 + 1]
    FROM organizations WHERE organization = $1;

-- name: begin_reading
-- The mark of the revision that was seen last tells whether this history goes on from that one.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
EXECUTE incumbent_settings (%(organization)s, %(person)s, %(everybody)s);
EXECUTE incumbent_versions;
EXECUTE incumbent_standing (%(organization)s, %(known)s);

-- name: begin_writing
-- The lock on its row makes the writers of one organization queue. What they read afterwards is
-- what the one before them has left.
BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT set_config('role', '{role}', true), set_config('search_path', '{schema}, pg_temp', true),
    set_config('incumbent.organization', %(organization)s, true),
    set_config('incumbent.person', '', true), set_config('incumbent.everybody', 'on', true),
    set_config('lock_timeout', %(patience)s, true);
SELECT {standing} FROM organizations
    WHERE organization = %(organization)s FOR NO KEY UPDATE;
SELECT declarations, erasures FROM versions;

-- name: add_organization
INSERT INTO organizations (organization) VALUES (%(organization)s) ON CONFLICT DO NOTHING;

-- name: lock_organization
SELECT {standing} FROM organizations
WHERE organization = %(organization)s FOR NO KEY UPDATE;

-- name: commit_changes
-- The mark tells, should the connection break meanwhile, what became of it. No time limit: one that
-- ends the wait for a replica would have the commit reported as done without it.
UPDATE organizations SET {standing_assignments},
    marks = (array_prepend(%(mark)s::integer, marks))[1:64] WHERE organization = %(organization)s;
SET LOCAL statement_timeout = 0;
COMMIT;

-- name: find_mark
-- Adding the organization waits for a transaction that is adding it, which no reading would see.
BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT set_config('role', '{role}', true), set_config('search_path', '{schema}, pg_temp', true),
    set_config('incumbent.organization', %(organization)s, true),
    set_config('incumbent.person', '', true), set_config('incumbent.everybody', 'on', true),
    set_config('lock_timeout', %(patience)s, true);
INSERT INTO organizations (organization) VALUES (%(organization)s) ON CONFLICT DO NOTHING;
SELECT revision, marks[revision - %(revision)s + 1] FROM organizations
WHERE organization = %(organization)s FOR NO KEY UPDATE;

-- name: keep_mark
UPDATE organizations SET revision = revision WHERE organization = %(organization)s;
SET LOCAL statement_timeout = 0;
COMMIT;

-- name: entry_at
SELECT entry_at(%(moment)s);

-- name: fact
SELECT {fact} FROM facts WHERE organization = %(organization)s AND id = %(id)s;

-- name: facts
SELECT {fact} FROM facts WHERE organization = %(organization)s AND id = ANY(%(ids)s) ORDER BY id;

-- name: facts_since
-- With what tells whether a fact has changed, and whether anything puts it in doubt.
SELECT {fact}, since, id IN (
    SELECT base_id FROM dependencies
    WHERE organization = %(organization)s AND base_id = ANY(%(ids)s) AND stands_on = ''
) FROM facts WHERE organization = %(organization)s AND id = ANY(%(ids)s) ORDER BY id;

-- name: changed_since
-- Tells whether a fact that was read before is still the same.
SELECT id, since, status, id IN (
    SELECT base_id FROM dependencies
    WHERE organization = %(organization)s AND base_id = ANY(%(ids)s) AND stands_on = ''
) FROM facts WHERE organization = %(organization)s AND id = ANY(%(ids)s);

-- name: live_since
-- Whether anything puts one in doubt is one look for each, in a list that is short. EXISTS might be
-- made a join, for which all dependencies are read.
SELECT id, since, status, (
    SELECT d.base_id FROM dependencies AS d WHERE d.organization = %(organization)s
        AND d.base_id = facts.id AND d.stands_on = '' LIMIT 1) IS NOT NULL
FROM facts WHERE organization = %(organization)s AND live {where} ORDER BY id LIMIT %(most)s;

-- name: timeline_since
-- Whether anything puts these in doubt is not looked up.
SELECT id, since, status, true FROM facts
WHERE organization = %(organization)s AND status <> 'erased' {where}
ORDER BY seq, id LIMIT %(most)s;

-- name: owned_since
SELECT id, since, status, true FROM (
    SELECT id, since, status FROM facts
    WHERE organization = %(organization)s AND live AND owner = %(owner)s LIMIT %(limit)s
) AS found ORDER BY id LIMIT %(most)s;

-- name: live
SELECT {fact} FROM facts WHERE organization = %(organization)s AND live {where} ORDER BY id;

-- name: live_of_all
-- A matter, whoever owns what is said of it. Owners are walked along the index, one probe each,
-- instead of all facts.
WITH RECURSIVE owners (whose) AS (
    (SELECT owner FROM facts WHERE organization = %(organization)s AND live ORDER BY owner LIMIT 1)
    UNION ALL
    SELECT (SELECT owner FROM facts
        WHERE organization = %(organization)s AND live AND owner > whose ORDER BY owner LIMIT 1)
    FROM owners WHERE whose IS NOT NULL
)
SELECT {fact} FROM owners JOIN facts ON owner = whose
WHERE organization = %(organization)s AND live AND key = %(key)s AND subject = %(subject)s
ORDER BY id;

-- name: owned
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND live AND owner = %(owner)s LIMIT %(limit)s;

-- name: live_at
SELECT {fact} FROM unnest(
    %(owners)s::text[], %(subjects)s::text[], %(keys)s::text[], %(scopes)s::text[],
    %(scope_ids)s::text[]
) AS wanted (whose, about, called, within, id_of_scope) JOIN facts
    ON owner = whose AND key = called AND subject = about AND scope_id = id_of_scope
    AND scope = within
WHERE organization = %(organization)s AND live ORDER BY id;

-- name: met
SELECT called, about FROM unnest(%(keys)s::text[], %(subjects)s::text[]) AS wanted (called, about)
WHERE EXISTS (
    SELECT FROM facts WHERE organization = %(organization)s AND live
    AND owner = ANY(%(owners)s::text[]) AND key = called AND subject = about);

-- name: glance
BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
SELECT set_config('role', '{role}', true), set_config('search_path', '{schema}, pg_temp', true),
    set_config('incumbent.organization', %(organization)s, true),
    set_config('incumbent.person', %(person)s, true), set_config('incumbent.everybody', 'off', true);
SELECT declarations, erasures FROM versions;
SELECT {standing} FROM organizations WHERE organization = %(organization)s;
SELECT value, ordinary, scope_id, scope FROM facts
WHERE organization = %(organization)s AND live AND key = %(key)s AND subject = %(subject)s
    AND owner = ANY(%(owners)s) AND scope_id = ANY(%(scope_ids)s);
COMMIT;

-- name: timeline
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND status <> 'erased' {where} ORDER BY seq, id;

-- name: known
-- The present tenure where it is old enough, else the earlier one of that entry.
SELECT {content}, {tenure_of_f} FROM facts AS f
WHERE f.organization = %(organization)s AND f.since <= %(seq)s AND f.status <> 'erased' {where}
UNION ALL
SELECT {content}, {tenure_of_t} FROM facts AS f JOIN tenures AS t
    ON t.organization = f.organization AND t.fact_id = f.id
   AND t.since <= %(seq)s AND t.until > %(seq)s
WHERE f.organization = %(organization)s AND f.seq <= %(seq)s AND f.since > %(seq)s
  AND f.status <> 'erased' {where}
ORDER BY 2, 1;

-- name: known_facts
SELECT {content}, {tenure_of_f} FROM facts AS f
WHERE f.organization = %(organization)s AND f.since <= %(seq)s AND f.status <> 'erased'
  AND f.id = ANY(%(ids)s)
UNION ALL
SELECT {content}, {tenure_of_t} FROM facts AS f JOIN tenures AS t
    ON t.organization = f.organization AND t.fact_id = f.id
   AND t.since <= %(seq)s AND t.until > %(seq)s
WHERE f.organization = %(organization)s AND f.seq <= %(seq)s AND f.since > %(seq)s
  AND f.status <> 'erased' AND f.id = ANY(%(ids)s)
ORDER BY 2, 1;

-- name: standing_on
SELECT {fact} FROM facts WHERE organization = %(organization)s AND status = 'office' AND id IN (
    SELECT fact_id FROM dependencies
    WHERE organization = %(organization)s AND stands_on = ANY(%(ids)s)
) ORDER BY id;

-- name: derived_from
SELECT {fact} FROM facts WHERE organization = %(organization)s AND id IN (
    SELECT fact_id FROM dependencies
    WHERE organization = %(organization)s AND base_id = ANY(%(ids)s) AND stands_on <> ''
) ORDER BY id;

-- name: doubting
-- What a fact doubts is among the dependencies, with nothing that it stands on.
SELECT {fact} FROM facts WHERE organization = %(organization)s AND live AND id IN (
    SELECT fact_id FROM dependencies
    WHERE organization = %(organization)s AND base_id = ANY(%(ids)s) AND stands_on = ''
) ORDER BY id;

-- name: ever_doubting
SELECT {fact} FROM facts WHERE organization = %(organization)s AND status <> 'erased' AND id IN (
    SELECT fact_id FROM dependencies
    WHERE organization = %(organization)s AND base_id = ANY(%(ids)s) AND stands_on = ''
) ORDER BY id;

-- name: waiting_on
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND awaits = ANY(%(ids)s) AND status = 'waiting' ORDER BY id;

-- name: contingent_on
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND when_superseded = ANY(%(ids)s) ORDER BY id;

-- name: contested
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND flagged AND status = 'contested' {where} ORDER BY id;

-- name: unapproved
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND flagged AND status = 'waiting' {where} ORDER BY id;

-- name: derived
-- Some of what is flagged is so for other reasons.
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND flagged AND status = 'office' {where} ORDER BY id;

-- name: doubters
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND flagged AND live {where} ORDER BY id;

-- name: retracted
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND status = 'retracted' {where}
ORDER BY since DESC, id LIMIT %(limit)s;

-- name: unindexed
-- One look for each fact. NOT EXISTS would be made a join, for which all entries are read.
SELECT {fact} FROM facts WHERE organization = %(organization)s AND id > %(after)s
    AND status <> 'erased' AND (SELECT e.entry FROM entries AS e
        WHERE e.organization = %(organization)s AND e.fact_id = facts.id) IS NULL
ORDER BY id LIMIT %(limit)s;

-- name: verdict
SELECT {verdict} FROM verdicts WHERE organization = %(organization)s AND id = %(id)s;

-- name: verdicts
SELECT {verdict} FROM verdicts WHERE organization = %(organization)s AND seq IN (
    SELECT seq FROM facts WHERE organization = %(organization)s AND id = ANY(%(ids)s)
    UNION
    SELECT seq FROM verdicts
    WHERE organization = %(organization)s AND action <> 'assert' AND fact_id = ANY(%(ids)s)
) ORDER BY seq;

-- name: log
SELECT {verdict} FROM verdicts WHERE organization = %(organization)s AND seq > %(after)s
ORDER BY seq LIMIT %(limit)s;

-- name: naming
SELECT DISTINCT fact_id FROM targets
WHERE organization = %(organization)s AND target_id = ANY(%(ids)s) ORDER BY fact_id;

-- name: insert_fact
-- Nothing for an id that is taken: an error would end the transaction.
INSERT INTO facts ({fact_columns}) VALUES ({fact_values})
ON CONFLICT (organization, id) DO NOTHING;

-- name: restore_fact
INSERT INTO facts ({fact_columns}) VALUES ({fact_values});

-- name: keep_tenure
-- A tenure that both begins and ends within one entry was never known to anybody.
INSERT INTO tenures (organization, fact_id, since, until, owner, {tenure})
SELECT organization, id, since, %(seq)s, owner, {tenure} FROM facts
WHERE organization = %(organization)s AND id = %(id)s AND since < %(seq)s;

-- name: change_tenure
UPDATE facts SET since = %(seq)s, {tenure_assignments}, live = %(live)s, slot = %(slot)s,
    flagged = %(flagged)s, ordinary = %(ordinary)s
WHERE organization = %(organization)s AND id = %(id)s;

-- name: insert_dependency
INSERT INTO dependencies (organization, fact_id, base_id, stands_on, owner)
VALUES (%(organization)s, %(fact_id)s, %(base_id)s, %(stands_on)s, %(owner)s)
ON CONFLICT (organization, fact_id, base_id) DO UPDATE SET stands_on = excluded.stands_on;

-- name: insert_verdict
INSERT INTO verdicts ({verdict}, owner) VALUES ({verdict_values}, %s);

-- name: restore_verdict
-- The log comes before the facts: whose each entry is shows at the end.
INSERT INTO verdicts ({verdict}, owner) VALUES ({verdict_values}, '');

-- name: owner
SELECT owner FROM facts WHERE organization = %(organization)s AND id = %(id)s;

-- name: advise
-- For the planner, until it is taken back or the transaction ends.
SELECT set_config(%(setting)s, %(value)s, true);

-- name: own_verdicts
-- A dump has the log before the facts, so that whose each entry is shows at the end.
UPDATE verdicts SET owner = f.owner FROM facts AS f
WHERE verdicts.organization = %(organization)s AND f.organization = %(organization)s
    AND f.id = verdicts.fact_id AND f.owner <> verdicts.owner;

-- name: insert_target
INSERT INTO targets (organization, target_id, fact_id)
VALUES (%(organization)s, %(target_id)s, %(fact_id)s) ON CONFLICT DO NOTHING;

-- name: mark_undone
UPDATE verdicts SET undone_by = %(undone_by)s
WHERE organization = %(organization)s AND id = %(id)s;

-- name: declarations
SELECT pattern, multi_valued, time_sensitive, write_authority, requires FROM declarations
ORDER BY pattern;

-- name: new_declaration_version
-- First of all that a declaration does: those who declare at the same time queue here.
UPDATE versions SET declarations = declarations + 1;

-- name: declare
INSERT INTO declarations (pattern, multi_valued, time_sensitive, write_authority, requires)
VALUES (%(pattern)s, %(multi_valued)s, %(time_sensitive)s, %(write_authority)s, %(requires)s)
ON CONFLICT (pattern) DO UPDATE SET multi_valued = excluded.multi_valued,
    time_sensitive = excluded.time_sensitive, write_authority = excluded.write_authority,
    requires = excluded.requires;

-- name: working_items
SELECT user_id, session_id, key, value, created_at, expires_at, states, spots FROM working_items
WHERE organization = %(organization)s {where} ORDER BY position;

-- name: put_item
-- A replaced item moves to the end of the desk.
INSERT INTO working_items
    (organization, user_id, session_id, key, value, created_at, expires_at, states, spots)
VALUES (%(organization)s, %(user_id)s, %(session_id)s, %(key)s, %(value)s, %(created_at)s,
    %(expires_at)s, %(states)s, %(spots)s)
ON CONFLICT (organization, user_id, session_id, key) DO UPDATE SET
    position = nextval('working_positions'), value = excluded.value,
    created_at = excluded.created_at, expires_at = excluded.expires_at, states = excluded.states,
    spots = excluded.spots;

-- name: drop_items
DELETE FROM working_items WHERE organization = %(organization)s {where};

-- name: turns
SELECT {turn} FROM turns
WHERE organization = %(organization)s AND user_id = %(user_id)s AND session_id = %(session_id)s
ORDER BY turn_index DESC LIMIT %(limit)s;

-- name: turns_called
SELECT {turn} FROM turns
WHERE organization = %(organization)s AND user_id = %(user_id)s AND ref = %(ref)s
ORDER BY at, session_id, turn_index;

-- name: put_turn
INSERT INTO turns (organization, user_id, {turn})
VALUES (%(organization)s, %(user_id)s, {turn_values})
ON CONFLICT (organization, user_id, session_id, turn_index) DO UPDATE SET {turn_assignments};

-- name: has_passages
SELECT to_regclass('passages') IS NOT NULL;

-- name: passages
SELECT number, {passage} FROM passages
WHERE organization = %(organization)s AND number > %(after)s {where}
ORDER BY number LIMIT %(limit)s;

-- name: passages_numbered
SELECT number, {passage} FROM passages
WHERE organization = %(organization)s AND number = ANY (%(ids)s::bigint[]) ORDER BY number;

-- name: passage_numbers
SELECT number FROM passages WHERE organization = %(organization)s {where};

-- name: passage_count
SELECT count(*) FROM passages WHERE organization = %(organization)s AND user_id = %(user_id)s;

-- name: passages_under
SELECT lexeme, found FROM passages_under(%(lexemes)s::text[], %(limit)s);

-- name: put_passage
INSERT INTO passages (organization, {passage}, posted)
VALUES (%(organization)s, {passage_values}, array_to_tsvector(%(posted)s))
ON CONFLICT (organization, user_id, session_id, turn_index, place) DO UPDATE SET
    {passage_assignments}, posted = excluded.posted;

-- name: drop_passages
DELETE FROM passages WHERE organization = %(organization)s AND number = ANY (%(ids)s::bigint[]);

-- name: drop_turns
DELETE FROM turns WHERE organization = %(organization)s {where};

-- name: usage
SELECT {usage} FROM usage WHERE organization = %(organization)s AND day >= %(since)s
ORDER BY day, model;

-- name: count_usage
INSERT INTO usage (organization, {usage}) VALUES (%(organization)s, {usage_values})
ON CONFLICT (organization, day, model) DO UPDATE SET {usage_sums};

-- name: findings
-- What must hold by itself whatever was written: a log without gaps that ends where the
-- organization says, facts that were brought by an entry of it, entries of facts that exist, and
-- one of them alone valid at an address for each audience.
SELECT 'the log has ' || count(v.seq) || ' entries up to ' || max(v.seq) || ', not ' || o.seq
FROM organizations AS o LEFT JOIN verdicts AS v ON v.organization = o.organization
WHERE o.organization = %(organization)s
GROUP BY o.seq HAVING count(v.seq) <> o.seq OR coalesce(max(v.seq), 0) <> o.seq
UNION ALL
SELECT 'fact ' || f.id || ' was brought by entry ' || f.seq || ', which the log does not have'
FROM facts AS f WHERE f.organization = %(organization)s AND NOT EXISTS (
    SELECT 1 FROM verdicts AS v WHERE v.organization = f.organization AND v.seq = f.seq)
UNION ALL
SELECT 'the index has an entry for fact ' || e.fact_id || ', which does not exist'
FROM entries AS e WHERE e.organization = %(organization)s AND NOT EXISTS (
    SELECT 1 FROM facts AS f WHERE f.organization = e.organization AND f.id = e.fact_id)
UNION ALL
SELECT count(*) || ' facts hold office as ' || key || ' of ' || owner || ', for example ' || min(id)
FROM facts WHERE organization = %(organization)s AND status = 'office' AND NOT multi_valued
GROUP BY owner, key, subject, scope_id, scope, slot HAVING count(*) > 1;

-- name: erase_fact
UPDATE facts SET owner = '', subject = '', key = '', value = 'null', source = '{{}}',
    timestamp = 0, recorded_at = 0, valid_from = 0, valid_until = NULL, memory_type = 'user',
    scope = 'global', scope_id = '', authority = '', requires = NULL, min_authority = NULL,
    depends_on = NULL, when_superseded = NULL, is_constraint = false, constraint_type = NULL,
    multi_valued = false, time_sensitive = false, status = 'erased', started_at = NULL,
    ended_at = NULL, standing = '', confirmed_at = NULL, awaits = NULL, review = NULL,
    live = false, slot = '', flagged = false, ordinary = false
WHERE organization = %(organization)s AND id = %(id)s;

-- name: erase_digests
-- Before the facts are emptied: their owners are asked for. What is left is the mark of a turn.
UPDATE turns SET digest = substr(digest, 1, strpos(digest, '$'))
WHERE organization = %(organization)s AND digest <> substr(digest, 1, strpos(digest, '$'))
    AND user_id IN (
        SELECT t.user_id FROM turns AS t
        WHERE t.organization = %(organization)s AND t.fact_ids::jsonb ?| %(ids)s::text[]
        UNION
        SELECT owner FROM facts
        WHERE organization = %(organization)s AND id = ANY(%(ids)s::text[]));

-- name: erase_tenures
DELETE FROM tenures WHERE organization = %(organization)s AND fact_id = %(id)s;

-- name: erase_dependencies
DELETE FROM dependencies WHERE organization = %(organization)s AND fact_id = %(id)s;

-- name: count_reasons
SELECT count(*) FROM verdicts WHERE organization = %(organization)s AND reason IS NOT NULL
    AND (fact_id = %(id)s OR seq = (
        SELECT seq FROM facts WHERE organization = %(organization)s AND id = %(id)s));

-- name: erase_reasons
UPDATE verdicts SET reason = NULL, by_user = '', owner = ''
WHERE organization = %(organization)s AND seq IN (
    SELECT seq FROM facts WHERE organization = %(organization)s AND id = %(id)s
    UNION
    SELECT seq FROM verdicts
    WHERE organization = %(organization)s AND action <> 'assert' AND fact_id = %(id)s);

-- name: erase_reason
UPDATE verdicts SET reason = NULL
WHERE organization = %(organization)s AND id = %(id)s AND reason IS NOT NULL;

-- name: erase_author
UPDATE verdicts SET by_user = '' WHERE organization = %(organization)s AND by_user = %(user_id)s;

-- name: new_erasure_version
UPDATE versions SET erasures = erasures + 1;

-- name: insert_erasure
INSERT INTO erasures (organization, id, proof) VALUES (%(organization)s, %(id)s, %(proof)s);

-- name: erasures
SELECT proof FROM erasures WHERE organization = %(organization)s AND id > %(after)s ORDER BY id;

-- name: organizations
SELECT organization_names();

-- name: dump_facts
SELECT {fact}, seq, since FROM facts WHERE organization = %(organization)s ORDER BY seq, id;

-- name: dump_tenures
SELECT {content}, {tenure_of_t}, t.since, t.until FROM facts AS f JOIN tenures AS t
    ON t.organization = f.organization AND t.fact_id = f.id
WHERE f.organization = %(organization)s ORDER BY t.fact_id, t.since;

-- name: dump_verdicts
SELECT {verdict} FROM verdicts WHERE organization = %(organization)s ORDER BY seq;

-- name: insert_tenure
INSERT INTO tenures (organization, fact_id, since, until, owner, {tenure})
VALUES (%(organization)s, %(id)s, %(since)s, %(until)s, %(owner)s, {tenure_values});

-- name: shelves
SELECT id, owner, scope, scope_id, requires, min_authority, binding, version FROM shelves
WHERE organization = %(organization)s AND owner = ANY(%(owners)s)
    AND scope_id = ANY(%(scope_ids)s) ORDER BY id;

-- name: shelf
-- Finds a shelf or makes it, and begins a new version of it.
INSERT INTO shelves (organization, owner, scope, scope_id, requires, min_authority, binding, version)
VALUES (%(organization)s, %(owner)s, %(scope)s, %(scope_id)s, %(requires)s, %(min_authority)s,
    %(binding)s, 1)
ON CONFLICT (organization, owner, scope_id, scope, requires, min_authority, binding)
    DO UPDATE SET version = shelves.version + 1
RETURNING id, version;

-- name: bump_shelf
UPDATE shelves SET version = version + 1
WHERE organization = %(organization)s AND id = %(shelf)s RETURNING version;

-- name: placed
SELECT entry, changed, live, starts, ends, derived, length, key, probes, vector FROM entries
WHERE organization = %(organization)s AND shelf = %(shelf)s AND changed > %(after)s
ORDER BY changed, entry;

-- name: tenured
SELECT e.entry, e.fact_id, e.key, f.subject, e.terms, e.probes, e.derived, f.multi_valued, f.seq,
    f.timestamp, f.since, f.status, f.started_at, least(f.ended_at, f.valid_until)
FROM entries AS e JOIN facts AS f ON f.organization = e.organization AND f.id = e.fact_id
WHERE e.organization = %(organization)s AND e.shelf = %(shelf)s AND e.changed > %(after)s;

-- name: tenured_before
SELECT e.entry, t.since, t.until, t.status, t.started_at, least(t.ended_at, f.valid_until)
FROM entries AS e JOIN tenures AS t ON t.organization = e.organization AND t.fact_id = e.fact_id
    JOIN facts AS f ON f.organization = e.organization AND f.id = e.fact_id
WHERE e.organization = %(organization)s AND e.shelf = %(shelf)s AND e.changed > %(after)s;

-- name: postings
-- A row for each lexeme that is found. It begins with the number of a shelf, and a shelf is of one
-- organization.
SELECT lexeme, found FROM posted_under(%(lexemes)s::text[], %(limit)s);

-- name: reposted
-- The entries that have changed on some shelves since a version of each. One walk along the index
-- for each shelf, whatever the planner knows of them.
SELECT e.* FROM unnest(%(shelves)s::bigint[], %(versions)s::bigint[]) AS seen (number, version),
    LATERAL (SELECT shelf, entry, live, terms FROM entries
        WHERE organization = %(organization)s AND shelf = number AND changed > version
        ORDER BY changed LIMIT %(limit)s) AS e;

-- name: found
SELECT entry, fact_id, key, terms, tokens, vector FROM entries
WHERE organization = %(organization)s AND entry = ANY(%(ids)s) ORDER BY entry;

-- name: entries_of
SELECT entry, fact_id, key, terms, tokens, vector FROM entries
WHERE organization = %(organization)s AND fact_id = ANY(%(ids)s) ORDER BY entry;

-- name: entry_of
SELECT entry, shelf, terms, live, starts, ends FROM entries
WHERE organization = %(organization)s AND fact_id = %(fact_id)s;

-- name: put_entry
-- The number is only used where the fact has no entry yet.
INSERT INTO entries (organization, entry, fact_id, shelf, owner, changed, live, starts, ends,
    derived, length, tokens, key, terms, probes, vector, posted)
VALUES (%(organization)s, %(entry)s, %(fact_id)s, %(shelf)s, %(owner)s, %(changed)s, %(live)s,
    %(starts)s, %(ends)s, %(derived)s, %(length)s, %(tokens)s, %(key)s, %(terms)s, %(probes)s,
    %(vector)s, array_to_tsvector(%(posted)s))
ON CONFLICT (organization, fact_id) DO UPDATE SET shelf = excluded.shelf, owner = excluded.owner,
    changed = excluded.changed, live = excluded.live, starts = excluded.starts,
    ends = excluded.ends, derived = excluded.derived, length = excluded.length,
    tokens = excluded.tokens, key = excluded.key, terms = excluded.terms,
    probes = excluded.probes, vector = excluded.vector, posted = excluded.posted;

-- name: move_entry
UPDATE entries SET live = %(live)s, starts = %(starts)s, ends = %(ends)s, changed = %(changed)s,
    posted = array_to_tsvector(%(posted)s)
WHERE organization = %(organization)s AND entry = %(entry)s;

-- name: touch_entry
UPDATE entries SET changed = %(changed)s
WHERE organization = %(organization)s AND entry = %(entry)s;

-- name: empty_entry
UPDATE entries SET live = false, starts = NULL, ends = NULL, derived = false, length = 0,
    tokens = 0, owner = '', key = '', terms = '', probes = '', vector = NULL, posted = NULL,
    changed = %(changed)s
WHERE organization = %(organization)s AND entry = %(entry)s;

-- name: drop_bare_shelves
-- A shelf tells whose facts stand on it, and goes with the last of them.
DELETE FROM shelves AS s WHERE s.organization = %(organization)s AND s.id = ANY(%(ids)s)
    AND NOT EXISTS (
        SELECT 1 FROM entries AS e JOIN facts AS f
            ON f.organization = e.organization AND f.id = e.fact_id
        WHERE e.organization = s.organization AND e.shelf = s.id AND f.status <> 'erased');

-- name: delete_entries
DELETE FROM entries WHERE organization = %(organization)s AND entry IN (
    SELECT entry FROM entries WHERE organization = %(organization)s LIMIT %(limit)s);

-- name: delete_shelves
DELETE FROM shelves WHERE organization = %(organization)s;

-- name: receipt
SELECT id, user_id, at, body FROM receipts WHERE organization = %(organization)s AND id = %(id)s;

-- name: receipts
SELECT id, user_id, at, body FROM receipts WHERE organization = %(organization)s {where}
ORDER BY at DESC, id LIMIT %(limit)s;

-- name: receipts_of
SELECT id, user_id, at, body FROM receipts
WHERE organization = %(organization)s AND user_id = %(user_id)s {where}
ORDER BY at DESC, id LIMIT %(limit)s;

-- name: put_receipt
INSERT INTO receipts (organization, id, user_id, at, body)
VALUES (%(organization)s, %(id)s, %(user_id)s, %(at)s, %(body)s)
ON CONFLICT (organization, id) DO UPDATE
SET user_id = excluded.user_id, at = excluded.at, body = excluded.body;

-- name: drop_receipts
DELETE FROM receipts WHERE organization = %(organization)s {where};

-- name: add_key
-- Nothing comes back where the id is taken, by a key of whichever organization.
BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT set_config('role', '{role}', true), set_config('search_path', '{schema}, pg_temp', true),
    set_config('incumbent.organization', %(organization)s, true);
INSERT INTO api_keys ({key}) VALUES ({key_values}) ON CONFLICT DO NOTHING RETURNING id;
SET LOCAL statement_timeout = 0;
COMMIT;

-- name: key
BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
SELECT set_config('role', '{role}', true), set_config('search_path', '{schema}, pg_temp', true);
SELECT {key} FROM key_of_id(%(id)s);
COMMIT;

-- name: keys
BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
SELECT set_config('role', '{role}', true), set_config('search_path', '{schema}, pg_temp', true),
    set_config('incumbent.organization', %(organization)s, true);
SELECT {key} FROM api_keys WHERE organization = %(organization)s ORDER BY id;
COMMIT;

-- name: key_organizations
BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
SELECT set_config('role', '{role}', true), set_config('search_path', '{schema}, pg_temp', true);
SELECT key_organizations();
COMMIT;

-- name: revoke_key
-- The first revocation stands.
BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT set_config('role', '{role}', true), set_config('search_path', '{schema}, pg_temp', true),
    set_config('incumbent.organization', %(organization)s, true);
UPDATE api_keys SET revoked_at = coalesce(revoked_at, %(at)s)
WHERE organization = %(organization)s AND id = %(id)s RETURNING {key};
SET LOCAL statement_timeout = 0;
COMMIT;

-- name: has_keys
SELECT to_regclass('api_keys') IS NOT NULL;

-- name: drop_keys
DELETE FROM api_keys WHERE organization = %(organization)s AND user_id = %(user_id)s;

-- name: log_before
SELECT {verdict} FROM verdicts WHERE organization = %(organization)s AND seq < %(before)s
ORDER BY seq DESC LIMIT %(limit)s;

-- name: users
-- A loose index scan over four tables at once: four seeks for each user, whatever they have. The
-- first row is where it begins; after each user comes the next text that can be there.
WITH RECURSIVE walk (name, tail) AS (
    SELECT %(begin)s::text COLLATE "C", '' COLLATE "C"
    UNION ALL
    SELECT (SELECT min(found) FROM (
        (SELECT owner AS found FROM facts WHERE organization = %(organization)s
            AND owner >= walk.name || walk.tail ORDER BY owner LIMIT 1)
        UNION ALL
        (SELECT user_id AS found FROM turns WHERE organization = %(organization)s AND turn_index = 1
            AND user_id >= walk.name || walk.tail ORDER BY user_id LIMIT 1)
        UNION ALL
        (SELECT user_id AS found FROM receipts WHERE organization = %(organization)s
            AND user_id >= walk.name || walk.tail ORDER BY user_id LIMIT 1)
        UNION ALL
        (SELECT by_user AS found FROM verdicts WHERE organization = %(organization)s
            AND by_user >= walk.name || walk.tail ORDER BY by_user LIMIT 1)) AS nearest), chr(1) COLLATE "C"
    FROM walk WHERE walk.name IS NOT NULL
)
SELECT name FROM walk WHERE tail <> '' AND name IS NOT NULL LIMIT %(limit)s;

-- name: activity
SELECT named, (
    SELECT count(*) FROM turns WHERE organization = %(organization)s AND turn_index = 1
        AND user_id = named
), (
    SELECT recorded_at FROM verdicts WHERE organization = %(organization)s AND by_user = named
    ORDER BY seq DESC LIMIT 1
) FROM unnest(%(users)s::text[]) AS named ORDER BY named COLLATE "C";

-- name: subjects
-- A loose index scan, a seek for each owner and one for each of their names, and no further than
-- is asked for: each owner's names are walked along once those before them are not enough.
WITH RECURSIVE owners (whose) AS (
    SELECT coalesce(given, (SELECT owner FROM facts WHERE organization = %(organization)s
        AND live AND subject <> '' AND owner >= %(owner)s ORDER BY owner LIMIT 1)) COLLATE "C"
    FROM unnest(coalesce(%(owners)s::text[], ARRAY[NULL]::text[])) AS given
    UNION ALL
    SELECT (SELECT owner FROM facts WHERE organization = %(organization)s
        AND live AND subject <> '' AND owner > whose ORDER BY owner LIMIT 1)
    FROM owners WHERE %(owners)s::text[] IS NULL AND whose IS NOT NULL
)
SELECT whose, name FROM owners, LATERAL (
    WITH RECURSIVE walk (name) AS (
        (SELECT subject FROM facts WHERE organization = %(organization)s AND live AND subject <> ''
            AND owner = whose AND subject >= (CASE whose WHEN %(owner)s THEN %(begin)s
                ELSE %(prefix)s END) COLLATE "C" ORDER BY subject LIMIT 1)
        UNION ALL
        SELECT (SELECT subject FROM facts WHERE organization = %(organization)s AND live AND subject <> ''
            AND owner = whose AND subject > walk.name ORDER BY subject LIMIT 1)
        FROM walk WHERE walk.name IS NOT NULL
            AND (%(end)s::text IS NULL OR walk.name < %(end)s::text COLLATE "C")
    )
    SELECT walk.name FROM walk WHERE walk.name IS NOT NULL
        AND (%(end)s::text IS NULL OR walk.name < %(end)s::text COLLATE "C") LIMIT %(limit)s
) AS named (name) WHERE whose >= %(owner)s COLLATE "C" LIMIT %(limit)s;

-- name: keys_held
-- A loose index scan, a seek for each owner and one for each of their names, and no further than
-- is asked for: each owner's names are walked along once those before them are not enough.
WITH RECURSIVE owners (whose) AS (
    SELECT coalesce(given, (SELECT owner FROM facts WHERE organization = %(organization)s
        AND live AND owner >= %(owner)s ORDER BY owner LIMIT 1)) COLLATE "C"
    FROM unnest(coalesce(%(owners)s::text[], ARRAY[NULL]::text[])) AS given
    UNION ALL
    SELECT (SELECT owner FROM facts WHERE organization = %(organization)s
        AND live AND owner > whose ORDER BY owner LIMIT 1)
    FROM owners WHERE %(owners)s::text[] IS NULL AND whose IS NOT NULL
)
SELECT whose, name FROM owners, LATERAL (
    WITH RECURSIVE walk (name) AS (
        (SELECT key FROM facts WHERE organization = %(organization)s AND live
            AND owner = whose AND key >= (CASE whose WHEN %(owner)s THEN %(begin)s
                ELSE %(prefix)s END) COLLATE "C" ORDER BY key LIMIT 1)
        UNION ALL
        SELECT (SELECT key FROM facts WHERE organization = %(organization)s AND live
            AND owner = whose AND key > walk.name ORDER BY key LIMIT 1)
        FROM walk WHERE walk.name IS NOT NULL
            AND (%(end)s::text IS NULL OR walk.name < %(end)s::text COLLATE "C")
    )
    SELECT walk.name FROM walk WHERE walk.name IS NOT NULL
        AND (%(end)s::text IS NULL OR walk.name < %(end)s::text COLLATE "C") LIMIT %(limit)s
) AS named (name) WHERE whose >= %(owner)s COLLATE "C" LIMIT %(limit)s;

-- name: alike_subjects
SELECT f.owner, f.subject, f.key, count(*), max(f.recorded_at), min(f.id)
FROM unnest(%(owners)s::text[], %(names)s::text[]) AS wanted (whose, name)
JOIN facts AS f ON f.owner = whose AND f.subject = name
WHERE f.organization = %(organization)s AND f.live AND f.subject <> ''
GROUP BY f.owner, f.subject, f.key, f.scope, f.scope_id, f.memory_type, f.requires,
    f.min_authority, CASE WHEN f.status = 'office' AND f.started_at <= %(now)s
        AND f.valid_until IS NULL AND f.ended_at IS NULL THEN '' ELSE f.id END;

-- name: alike_keys
SELECT f.owner, f.subject, f.key, count(*), max(f.recorded_at), min(f.id)
FROM unnest(%(owners)s::text[], %(names)s::text[]) AS wanted (whose, name)
JOIN facts AS f ON f.owner = whose AND f.key = name
WHERE f.organization = %(organization)s AND f.live
GROUP BY f.owner, f.subject, f.key, f.scope, f.scope_id, f.memory_type, f.requires,
    f.min_authority, CASE WHEN f.status = 'office' AND f.started_at <= %(now)s
        AND f.valid_until IS NULL AND f.ended_at IS NULL THEN '' ELSE f.id END;

-- name: holdings
SELECT f.owner, '', '', count(*), max(f.recorded_at), min(f.id)
FROM unnest(%(owners)s::text[]) AS whose JOIN facts AS f ON f.owner = whose
WHERE f.organization = %(organization)s AND f.live
GROUP BY f.owner, CASE WHEN f.status = 'office' AND f.started_at <= %(now)s
        AND f.valid_until IS NULL AND f.ended_at IS NULL THEN '' ELSE f.id END;

-- name: sessions
-- By their first turns; the last of each is one more seek.
SELECT session_id, user_id, at, (
    SELECT l.at FROM turns AS l WHERE l.organization = %(organization)s
        AND l.user_id = turns.user_id AND l.session_id = turns.session_id
        ORDER BY l.turn_index DESC LIMIT 1
), (
    SELECT l.turn_index FROM turns AS l WHERE l.organization = %(organization)s
        AND l.user_id = turns.user_id AND l.session_id = turns.session_id
        ORDER BY l.turn_index DESC LIMIT 1
) FROM turns WHERE organization = %(organization)s AND turn_index = 1 {where}
ORDER BY turns.at DESC, user_id DESC, session_id DESC LIMIT %(limit)s;

-- name: sessions_of
SELECT session_id, user_id, at, (
    SELECT l.at FROM turns AS l WHERE l.organization = %(organization)s
        AND l.user_id = turns.user_id AND l.session_id = turns.session_id
        ORDER BY l.turn_index DESC LIMIT 1
), (
    SELECT l.turn_index FROM turns AS l WHERE l.organization = %(organization)s
        AND l.user_id = turns.user_id AND l.session_id = turns.session_id
        ORDER BY l.turn_index DESC LIMIT 1
) FROM turns
WHERE organization = %(organization)s AND turn_index = 1 AND user_id = %(user_id)s {where}
ORDER BY turns.at DESC, session_id DESC LIMIT %(limit)s;

-- name: set_savepoint
-- One name is enough: the latest of that name is the one that is returned to.
SAVEPOINT taken_back;

-- name: return_to_savepoint
ROLLBACK TO SAVEPOINT taken_back;

-- name: verdicts_by_id
SELECT {verdict} FROM verdicts WHERE organization = %(organization)s AND id = ANY(%(ids)s)
ORDER BY seq;

-- name: recorded
SELECT {fact} FROM facts
WHERE organization = %(organization)s AND owner = %(owner)s {where}
ORDER BY recorded_at DESC, id DESC LIMIT %(limit)s;

-- name: branches
SELECT DISTINCT scope, scope_id FROM facts
WHERE organization = %(organization)s AND live AND scope IN ('draft', 'hypothetical')
  AND owner = ANY(%(owners)s::text[])
  AND (scope, scope_id) > (%(scope)s, %(scope_id)s)
ORDER BY scope, scope_id LIMIT %(limit)s;

-- name: branched
SELECT owner, subject, key, count(*), max(recorded_at), min(id)
FROM facts
WHERE organization = %(organization)s AND live AND scope IN ('draft', 'hypothetical')
  AND owner = ANY(%(owners)s::text[]) {where}
GROUP BY owner, subject, key, scope, scope_id, memory_type, requires, min_authority,
    CASE WHEN status = 'office' AND started_at <= %(now)s
        AND valid_until IS NULL AND ended_at IS NULL THEN '' ELSE id END;

-- name: turns_after
SELECT {turn} FROM turns
WHERE organization = %(organization)s AND user_id = %(user_id)s AND session_id = %(session_id)s
  AND turn_index > %(index)s
ORDER BY turn_index LIMIT %(limit)s;

-- name: verdict_counts
SELECT recorded_at / %(day)s, action, outcome, rule, count(*) FROM verdicts
WHERE organization = %(organization)s AND seq > %(after)s AND seq <= %(last)s
GROUP BY 1, 2, 3, 4;

-- name: fact_counts
-- Only what is flagged can have a cause for review, or be contested.
SELECT (
    SELECT count(*) FROM facts WHERE organization = %(organization)s AND {held}
), (
    SELECT count(*) FROM facts
    WHERE organization = %(organization)s AND flagged AND status = 'office'
      AND jsonb_array_length(review::jsonb -> 'causes') > 0
), (
    SELECT count(*) FROM facts
    WHERE organization = %(organization)s AND flagged AND status = 'contested'
);
