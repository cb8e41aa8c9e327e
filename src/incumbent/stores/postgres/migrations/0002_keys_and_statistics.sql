-- serves: 1
-- Keys that let programs in over a network, and no samples of what people said for the planner.

-- Only the digest of what was handed out is kept. A key is looked up before anybody knows for which
-- organization it is, so that this table is in one piece: small, and the same everywhere.
CREATE TABLE api_keys (
    id              text COLLATE "C" PRIMARY KEY,
    organization    text COLLATE "C" NOT NULL CHECK (organization <> ''),
    name            text NOT NULL,
    scopes          text NOT NULL,      -- JSON list
    max_authority   text NOT NULL,
    user_id         text COLLATE "C",   -- whom it speaks for; NULL for many
    permissions     text,               -- JSON list
    created_at      bigint NOT NULL,
    expires_at      bigint,
    revoked_at      bigint,
    digest          text NOT NULL
);
CREATE INDEX api_keys_organization ON api_keys (organization, id);
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY fence ON api_keys
    USING (organization = (SELECT current_setting('incumbent.organization', true)));

-- The one key of an id, past the fence: it is what tells which organization to keep to. Whoever
-- asks has to know the id, and gets a digest that opens nothing.
CREATE FUNCTION key_of_id(wanted text) RETURNS SETOF api_keys LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, {schema}
    AS $$ SELECT * FROM {schema}.api_keys WHERE id = wanted $$;

-- The names alone of the organizations that have keys, for those who run the service.
CREATE FUNCTION key_organizations() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, {schema}
    AS $$ SELECT DISTINCT organization FROM {schema}.api_keys ORDER BY 1 $$;

-- What the planner learns of a column are values out of it, kept where no erasure reaches. Of
-- columns that hold what people said it learns nothing from here on; rows are never looked for by
-- one of them, but by "posted", whose index is used whatever is known of it.
-- Naming the type that a column has already changes nothing in it, and is how its owner makes the
-- server forget what it had learnt. It takes a lock for a moment: all of them at once and briefly,
-- or none, so that nobody waits behind somebody who waits.
SET LOCAL statement_timeout = {patience};
LOCK TABLE facts, verdicts, working_items, turns, receipts, entries IN ACCESS EXCLUSIVE MODE;
SET LOCAL statement_timeout = 0;
ALTER TABLE facts
    ALTER COLUMN value TYPE text, ALTER COLUMN value SET STATISTICS 0,
    ALTER COLUMN source TYPE text, ALTER COLUMN source SET STATISTICS 0;
ALTER TABLE verdicts
    ALTER COLUMN reason TYPE text, ALTER COLUMN reason SET STATISTICS 0;
ALTER TABLE working_items
    ALTER COLUMN value TYPE text, ALTER COLUMN value SET STATISTICS 0,
    ALTER COLUMN spots TYPE text, ALTER COLUMN spots SET STATISTICS 0;
ALTER TABLE turns
    ALTER COLUMN digest TYPE text, ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE receipts
    ALTER COLUMN body TYPE text, ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE entries
    ALTER COLUMN key TYPE text, ALTER COLUMN key SET STATISTICS 0,
    ALTER COLUMN terms TYPE text, ALTER COLUMN terms SET STATISTICS 0,
    ALTER COLUMN probes TYPE text, ALTER COLUMN probes SET STATISTICS 0,
    ALTER COLUMN vector TYPE bytea, ALTER COLUMN vector SET STATISTICS 0;

-- Naming the type of "posted" would make its index anew, which takes as long as there are facts.
-- A server from version 18 on can be asked to forget, and one that trusts us lets us do it. Where
-- neither holds, the planner goes on learning of it, so that what was erased leaves with the next
-- time that it counts (`incumbent db vacuum`).
DO $$
BEGIN
    IF current_setting('is_superuser')::boolean THEN
        DELETE FROM pg_catalog.pg_statistic AS s USING pg_catalog.pg_attribute AS a
        WHERE s.starelid = a.attrelid AND s.staattnum = a.attnum AND a.attname = 'posted'
            AND s.starelid IN (SELECT relid FROM pg_partition_tree('entries'));
    ELSIF current_setting('server_version_num')::int >= 180000 THEN
        PERFORM pg_clear_attribute_stats('{schema}', c.relname::text, 'posted', inherited)
        FROM pg_partition_tree('entries') AS part JOIN pg_class AS c ON c.oid = part.relid,
            unnest(ARRAY[false, true]) AS inherited;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pg_stats WHERE schemaname = '{schema}' AND attname = 'posted') THEN
        ALTER TABLE entries ALTER COLUMN posted SET STATISTICS 0;
    END IF;
END $$;

-- Which code may still work on a schema newer than itself: the note of each migration says from
-- which version on.
ALTER TABLE schema_versions ADD COLUMN serves integer NOT NULL DEFAULT 1;

-- As before, but for two things. Up to sixteen terms are looked up one by one: together, every term
-- of every entry that has one of them is looked at. And "OFFSET 0": without it the planner would
-- rather walk along all entries of an organization in the order of their numbers until it has come
-- across enough that have a term, also where only one of them has it. Terms that very many have are
-- slower this way; a process remembers those, and asks for them once.
CREATE OR REPLACE FUNCTION posted_under(wanted text[], most bigint)
    RETURNS TABLE (lexeme text, found bigint[]) LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, {schema}
    AS $$
DECLARE
    name text := current_setting('incumbent.organization', true);
    person text := current_setting('incumbent.person', true);
    everybody boolean := current_setting('incumbent.everybody', true) = 'on';
    any_of tsquery;
BEGIN
    IF cardinality(wanted) <= 16 THEN
        RETURN QUERY SELECT asked, ARRAY(
            SELECT having_it.entry FROM (
                SELECT e.entry FROM {schema}.entries AS e
                WHERE e.organization = name AND e.posted @@ quote_literal(asked)::tsquery
                    AND (everybody OR e.owner IN ('', person)) OFFSET 0) AS having_it
            ORDER BY having_it.entry LIMIT most)
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
