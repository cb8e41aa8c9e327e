-- serves: 8
-- The turns in their words, by paragraphs: what was said and is no fact is found here. Older code
-- would leave them behind when it erases.
CREATE SEQUENCE passage_numbers;
CREATE TABLE passages (
    organization    text COLLATE "C" NOT NULL,
    number          bigint NOT NULL DEFAULT nextval('passage_numbers'),
    user_id         text COLLATE "C" NOT NULL,
    session_id      text COLLATE "C" NOT NULL,
    turn_index      bigint NOT NULL,
    place           bigint NOT NULL,    -- among the paragraphs of the turn
    speaker         text NOT NULL,
    at              bigint NOT NULL,
    text            text NOT NULL,
    states          text,               -- JSON list
    spots           text,               -- JSON list of [fact id, text, start, end]
    terms           text NOT NULL,
    vector          bytea,              -- one signed byte a dimension
    posted          tsvector NOT NULL,  -- a mark of the person, x and a term
    PRIMARY KEY (organization, number)
) PARTITION BY HASH (organization);
CREATE UNIQUE INDEX passages_place
    ON passages (organization, user_id, session_id, turn_index, place);
CREATE INDEX passages_posted ON passages USING gin (posted) WITH (fastupdate = off);

-- In as many partitions as the other tables have.
DO $$
DECLARE
    parts bigint := (SELECT count(*) FROM pg_inherits WHERE inhparent = 'organizations'::regclass);
BEGIN
    FOR part IN 0 .. parts - 1 LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF passages FOR VALUES WITH (MODULUS %s, '
            'REMAINDER %s)', 'passages_p' || part, parts, part);
    END LOOP;
END $$;

-- What people said is nothing for the planner to keep samples of.
ALTER TABLE passages ALTER COLUMN text SET STATISTICS 0, ALTER COLUMN spots SET STATISTICS 0,
    ALTER COLUMN terms SET STATISTICS 0, ALTER COLUMN vector SET STATISTICS 0,
    ALTER COLUMN posted SET STATISTICS 0;

ALTER TABLE passages ENABLE ROW LEVEL SECURITY;
CREATE POLICY fence ON passages
    USING (organization = (SELECT current_setting('incumbent.organization', true))
        AND ((SELECT current_setting('incumbent.everybody', true)) = 'on'
            OR user_id IN ((SELECT current_setting('incumbent.person', true)))));

-- The numbers of the passages under each lexeme, past the fence, behind which no index of words can
-- be used: the fence stands in here.
CREATE FUNCTION passages_under(wanted text[], most bigint)
    RETURNS TABLE (lexeme text, found bigint[]) LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, {schema}, pg_temp
    AS $$
    SELECT asked, ARRAY(
        SELECT having_it.number FROM (
            SELECT p.number FROM {schema}.passages AS p
            WHERE p.organization = current_setting('incumbent.organization', true)
                AND p.posted @@ quote_literal(asked)::tsquery
                AND (current_setting('incumbent.everybody', true) = 'on'
                    OR p.user_id = current_setting('incumbent.person', true)) OFFSET 0) AS having_it
        ORDER BY having_it.number DESC LIMIT most)
    FROM unnest(wanted) AS asked $$;
