-- The whole of Incumbent in one schema. Every table that holds something of an organization is
-- partitioned by it, and has it first in every key and index: nothing is ever looked up without,
-- and a sharded PostgreSQL can spread the tables by the same column as they stand.
-- Texts sort by code point, as they do in Python. Moments are microseconds since 1970, UTC.
-- {partitions} is filled in with the number that `incumbent db init` was told.

CREATE FUNCTION partition_by_organization(parent text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR part IN 0 .. {partitions} - 1 LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS {partitions}, '
            'REMAINDER %s)', parent || '_p' || part, parent, part);
    END LOOP;
END $$;

-- One row for each organization: who writes locks it, so that writers of one organization queue
-- and those of different ones never meet.
CREATE TABLE organizations (
    organization    text COLLATE "C" NOT NULL CHECK (organization <> ''),
    seq             bigint NOT NULL DEFAULT 0,  -- the last entry of its log, and its moment
    recorded_at     bigint,
    recipe          text,               -- how its index was made; one made otherwise is made anew
    entries         bigint NOT NULL DEFAULT 0,  -- the last number given to an entry
    revision        bigint NOT NULL DEFAULT 0,  -- grows with every transaction that changes it
    marks           integer[] NOT NULL DEFAULT '{}',  -- one for each of the last, the latest first
    PRIMARY KEY (organization)
) PARTITION BY HASH (organization);

-- Facts with their present tenure.
-- "slot" is '' for the one valid fact of a single-valued address and the fact's own id otherwise,
-- so that one unique index finds live facts and keeps a second incumbent out.
CREATE TABLE facts (
    organization    text COLLATE "C" NOT NULL,
    id              text COLLATE "C" NOT NULL,
    seq             bigint NOT NULL,    -- log entry that brought it
    since           bigint NOT NULL,    -- log entry of its present tenure
    owner           text COLLATE "C" NOT NULL,
    subject         text COLLATE "C" NOT NULL,
    key             text COLLATE "C" NOT NULL,
    value           text NOT NULL,      -- canonical JSON
    source          text NOT NULL,      -- JSON
    timestamp       bigint NOT NULL,
    recorded_at     bigint NOT NULL,
    valid_from      bigint NOT NULL,
    valid_until     bigint,
    memory_type     text NOT NULL,
    scope           text COLLATE "C" NOT NULL,
    scope_id        text COLLATE "C" NOT NULL,
    authority       text NOT NULL,
    requires        text,               -- JSON list
    min_authority   text,
    depends_on      text,               -- JSON list
    when_superseded text COLLATE "C",
    is_constraint   boolean NOT NULL,
    constraint_type text,
    multi_valued    boolean NOT NULL,
    time_sensitive  boolean NOT NULL,
    status          text NOT NULL,
    superseded_by   text,
    predecessors    text,               -- JSON list
    started_at      bigint,
    ended_at        bigint,
    standing        text NOT NULL,
    confirmed_at    bigint,
    awaits          text COLLATE "C",
    review          text,               -- JSON: legs, causes, acknowledgements
    live            boolean NOT NULL,   -- in office, or with a term still to end
    slot            text COLLATE "C" NOT NULL,
    flagged         boolean NOT NULL,   -- contested, or derived and in office: may need review
    ordinary        boolean NOT NULL,   -- in office with no term and no condition on readers
    PRIMARY KEY (organization, id)
) PARTITION BY HASH (organization);

CREATE UNIQUE INDEX facts_live ON facts (organization, owner, key, subject, scope_id, scope, slot)
    WHERE live;
CREATE INDEX facts_key ON facts (organization, owner, key, seq);
CREATE INDEX facts_awaits ON facts (organization, awaits) WHERE awaits IS NOT NULL;
CREATE INDEX facts_contingent ON facts (organization, when_superseded)
    WHERE when_superseded IS NOT NULL;
CREATE INDEX facts_flagged ON facts (organization, owner) WHERE flagged;
CREATE INDEX facts_retracted ON facts (organization, owner, since) WHERE status = 'retracted';

-- Earlier tenures, known from entry "since" up to, not including, entry "until".
CREATE TABLE tenures (
    organization    text COLLATE "C" NOT NULL,
    fact_id         text COLLATE "C" NOT NULL,
    since           bigint NOT NULL,
    until           bigint NOT NULL,
    owner           text COLLATE "C" NOT NULL,
    status          text NOT NULL,
    superseded_by   text,
    predecessors    text,
    started_at      bigint,
    ended_at        bigint,
    standing        text NOT NULL,
    confirmed_at    bigint,
    awaits          text,
    review          text,
    PRIMARY KEY (organization, fact_id, since)
) PARTITION BY HASH (organization);

-- Which fact rests on which, and where that leg stands now.
CREATE TABLE dependencies (
    organization    text COLLATE "C" NOT NULL,
    fact_id         text COLLATE "C" NOT NULL,
    base_id         text COLLATE "C" NOT NULL,
    stands_on       text COLLATE "C" NOT NULL,
    owner           text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, fact_id, base_id)
) PARTITION BY HASH (organization);
CREATE INDEX dependencies_base ON dependencies (organization, base_id);
CREATE INDEX dependencies_stands_on ON dependencies (organization, stands_on);

-- The log. Appended to, never rewritten but for "undone_by" and by an erasure. "owner" is that of
-- the fact it is about.
CREATE TABLE verdicts (
    organization    text COLLATE "C" NOT NULL,
    seq             bigint NOT NULL,
    id              text COLLATE "C" NOT NULL,
    action          text NOT NULL,
    outcome         text NOT NULL,
    rule            text NOT NULL,
    fact_id         text COLLATE "C" NOT NULL,
    superseded      text,
    targets         text,
    evidence        text,
    confidence      double precision NOT NULL,
    by_user         text COLLATE "C" NOT NULL,
    authority       text NOT NULL,
    at              bigint NOT NULL,
    recorded_at     bigint NOT NULL,
    reason          text,
    repair          text,
    undone_by       text,
    owner           text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, seq)
) PARTITION BY HASH (organization);
CREATE UNIQUE INDEX verdicts_id ON verdicts (organization, id);
-- The verdict that brought a fact is found by the fact's own "seq".
CREATE INDEX verdicts_fact ON verdicts (organization, fact_id) WHERE action <> 'assert';

-- Which facts were named as superseded by which: an undo looks these links up both ways.
CREATE TABLE targets (
    organization    text COLLATE "C" NOT NULL,
    target_id       text COLLATE "C" NOT NULL,
    fact_id         text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, target_id, fact_id)
) PARTITION BY HASH (organization);

-- Layer 3: what a session has on its desk.
CREATE SEQUENCE working_positions;
CREATE TABLE working_items (
    organization    text COLLATE "C" NOT NULL,
    user_id         text COLLATE "C" NOT NULL,
    session_id      text COLLATE "C" NOT NULL,
    key             text COLLATE "C" NOT NULL,
    position        bigint NOT NULL DEFAULT nextval('working_positions'),
    value           text NOT NULL,
    created_at      bigint NOT NULL,
    expires_at      bigint,
    states          text,               -- JSON list
    spots           text,               -- JSON list of [fact id, text, start, end]
    PRIMARY KEY (organization, user_id, session_id, key)
) PARTITION BY HASH (organization);
CREATE INDEX working_items_expiry ON working_items (organization, expires_at)
    WHERE expires_at IS NOT NULL;

-- The turns that were observed: what each was called and what came of it, nothing of what it said.
CREATE TABLE turns (
    organization    text COLLATE "C" NOT NULL,
    user_id         text COLLATE "C" NOT NULL,
    session_id      text COLLATE "C" NOT NULL,
    turn_index      bigint NOT NULL,
    speaker         text NOT NULL,
    at              bigint NOT NULL,
    digest          text NOT NULL,
    ref             text COLLATE "C",
    fact_ids        text,               -- JSON list
    verdict_ids     text,               -- JSON list
    PRIMARY KEY (organization, user_id, session_id, turn_index)
) PARTITION BY HASH (organization);
CREATE INDEX turns_ref ON turns (organization, user_id, ref) WHERE ref IS NOT NULL;

-- What models were asked, in numbers: by day and model. Nothing of what was said.
CREATE TABLE usage (
    organization    text COLLATE "C" NOT NULL,
    day             text COLLATE "C" NOT NULL,  -- ISO 8601, in UTC
    model           text COLLATE "C" NOT NULL,
    calls           bigint NOT NULL,
    failed          bigint NOT NULL,
    turns           bigint NOT NULL,
    input_tokens    bigint NOT NULL,
    output_tokens   bigint NOT NULL,
    micros          bigint NOT NULL,    -- millionths of a currency
    PRIMARY KEY (organization, day, model)
) PARTITION BY HASH (organization);

-- Proofs of what was forgotten. They name ids and counts, never content.
CREATE TABLE erasures (
    organization    text COLLATE "C" NOT NULL,
    id              text COLLATE "C" NOT NULL,
    proof           text NOT NULL,
    PRIMARY KEY (organization, id)
) PARTITION BY HASH (organization);

-- Proofs of contexts, for those who asked for them to be kept.
CREATE TABLE receipts (
    organization    text COLLATE "C" NOT NULL,
    id              text COLLATE "C" NOT NULL,
    user_id         text COLLATE "C" NOT NULL,
    at              bigint NOT NULL,
    body            text NOT NULL,      -- JSON
    PRIMARY KEY (organization, id)
) PARTITION BY HASH (organization);
CREATE INDEX receipts_at ON receipts (organization, at);

-- The index that contexts search. An entry stands on a shelf, and all facts of a shelf are for the
-- same readers. "version" of a shelf grows with every transaction that changes one of its entries;
-- "changed" of an entry is the version that last touched it, so that a process which holds a shelf
-- in memory reads only what is new.
CREATE SEQUENCE shelf_numbers;
CREATE TABLE shelves (
    organization    text COLLATE "C" NOT NULL,
    id              bigint NOT NULL DEFAULT nextval('shelf_numbers'),
    owner           text COLLATE "C" NOT NULL,
    scope           text COLLATE "C" NOT NULL,
    scope_id        text COLLATE "C" NOT NULL,
    requires        text COLLATE "C" NOT NULL,  -- JSON list
    min_authority   text COLLATE "C" NOT NULL,  -- '' for none
    binding         boolean NOT NULL,   -- constraints
    version         bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, id)
) PARTITION BY HASH (organization);
CREATE UNIQUE INDEX shelves_place
    ON shelves (organization, owner, scope_id, scope, requires, min_authority, binding);

CREATE TABLE entries (
    organization    text COLLATE "C" NOT NULL,
    entry           bigint NOT NULL,    -- counted in the order they came
    fact_id         text COLLATE "C" NOT NULL,
    shelf           bigint NOT NULL,
    owner           text COLLATE "C" NOT NULL,
    changed         bigint NOT NULL,
    live            boolean NOT NULL,   -- in office, or with a term still to end
    starts          bigint,             -- a start still to come when this was recorded
    ends            bigint,
    derived         boolean NOT NULL,
    length          integer NOT NULL,   -- how many terms
    tokens          integer NOT NULL,   -- of its line in a context
    key             text NOT NULL,
    terms           text NOT NULL,
    probes          text NOT NULL,
    vector          bytea,              -- one signed byte a dimension
    posted          tsvector,           -- where it is live: the number of its shelf, x and a term
    PRIMARY KEY (organization, entry)
) PARTITION BY HASH (organization);
CREATE UNIQUE INDEX entries_fact ON entries (organization, fact_id);
CREATE INDEX entries_changed ON entries (organization, shelf, changed);
-- Without a list of entries still to be sorted in, which every search would have to go through.
CREATE INDEX entries_posted ON entries USING gin (posted) WITH (fastupdate = off)
    WHERE posted IS NOT NULL;

SELECT partition_by_organization(parent) FROM unnest(ARRAY[
    'organizations', 'facts', 'tenures', 'dependencies', 'verdicts', 'targets', 'working_items',
    'turns', 'usage', 'erasures', 'receipts', 'shelves', 'entries']) AS parent;
DROP FUNCTION partition_by_organization(text);

-- What is special about a key holds for every organization: small, and the same everywhere.
CREATE TABLE declarations (
    pattern         text COLLATE "C" PRIMARY KEY,
    multi_valued    boolean NOT NULL,
    time_sensitive  boolean NOT NULL,
    write_authority text,
    requires        text NOT NULL
);
-- Tells a process that remembers declarations, or what facts said, whether others have changed
-- the former or erased some of the latter.
CREATE TABLE versions (declarations bigint NOT NULL, erasures bigint NOT NULL);
INSERT INTO versions VALUES (0, 0);

-- Row-level security. The application says, for one transaction, for which organization it works,
-- and for whom: `incumbent.organization`, and `incumbent.person` or, for work on behalf of all,
-- `incumbent.everybody`. With nothing said, nothing is seen. The settings are read once a statement.
CREATE FUNCTION fence(guarded text, whose text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    seen text := 'organization = (SELECT current_setting(''incumbent.organization'', true))';
    mine text := '';
BEGIN
    IF whose IS NOT NULL THEN
        mine := format(' AND ((SELECT current_setting(''incumbent.everybody'', true)) = ''on'' OR %I'
            ' IN (%s(SELECT current_setting(''incumbent.person'', true))))', whose,
            CASE whose WHEN 'owner' THEN ''''', ' ELSE '' END);
    END IF;
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', guarded);
    EXECUTE format('CREATE POLICY fence ON %I USING (%s%s)', guarded, seen, mine);
END $$;
SELECT fence(guarded, whose) FROM (VALUES
    ('organizations', NULL), ('facts', 'owner'), ('tenures', 'owner'), ('dependencies', 'owner'),
    ('verdicts', 'owner'), ('targets', NULL), ('working_items', 'user_id'), ('turns', 'user_id'),
    ('usage', NULL), ('erasures', NULL), ('receipts', 'user_id'), ('shelves', 'owner'),
    ('entries', 'owner')) AS told (guarded, whose);
DROP FUNCTION fence(text, text);

-- The last entry of the log that was recorded by a moment, whoever may read it: the log is dense
-- and its times never run backwards, so halving needs no index of times.
CREATE FUNCTION entry_at(moment bigint) RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, {schema}
    AS $$
DECLARE
    name text := current_setting('incumbent.organization', true);
    low bigint := 0;
    high bigint := (SELECT seq FROM {schema}.organizations WHERE organization = name);
    middle bigint;
BEGIN
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF (SELECT recorded_at FROM {schema}.verdicts
                WHERE organization = name AND seq = middle) <= moment THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END $$;

-- The entries posted under what each of some queries asks for, by their numbers. Its own function,
-- because no index of texts can be used behind row-level security: whether a text matches is not
-- a question that PostgreSQL trusts to reveal nothing. It keeps to the same rows by itself.
-- Few are looked up one by one. Many are looked for in one pass, which is never worse than going
-- through the organization once, whatever the planner knows about it.
CREATE FUNCTION posted_under(wanted text[], most bigint)
    RETURNS TABLE (lexeme text, found bigint[]) LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, {schema}
    AS $$
DECLARE
    name text := current_setting('incumbent.organization', true);
    person text := current_setting('incumbent.person', true);
    everybody boolean := current_setting('incumbent.everybody', true) = 'on';
    any_of tsquery;
BEGIN
    IF cardinality(wanted) <= 4 THEN
        RETURN QUERY SELECT asked, ARRAY(
            SELECT e.entry FROM {schema}.entries AS e
            WHERE e.organization = name AND e.posted @@ quote_literal(asked)::tsquery
                AND (everybody OR e.owner IN ('', person))
            ORDER BY e.entry LIMIT most)
        FROM unnest(wanted) AS asked;
    ELSE
        SELECT string_agg(quote_literal(asked), ' | ')::tsquery INTO any_of
        FROM unnest(wanted) AS asked;
        RETURN QUERY SELECT asked, (array_agg(e.entry ORDER BY e.entry))[1:most]
        FROM {schema}.entries AS e, unnest(e.posted) AS has, unnest(wanted) AS asked
        WHERE e.organization = name AND e.posted @@ any_of AND asked = has.lexeme
            AND (everybody OR e.owner IN ('', person))
        GROUP BY asked;
    END IF;
END $$;

-- The names alone of all organizations, for those who run the service.
CREATE FUNCTION organization_names() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, {schema}
    AS $$ SELECT organization FROM {schema}.organizations WHERE seq > 0 ORDER BY 1 $$;
