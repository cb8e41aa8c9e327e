-- Copies one organization of an Incumbent database under another name, index and all, far quicker than
-- writing it would be. %(offset)s sets the numbers of its shelves apart from all others.
INSERT INTO incumbent.organizations (organization, seq, recorded_at, recipe, entries, revision)
SELECT %(name)s, seq, recorded_at, recipe, entries, revision FROM incumbent.organizations
WHERE organization = %(of)s;

INSERT INTO incumbent.shelves (organization, id, owner, scope, scope_id, requires, min_authority,
    binding, version)
SELECT %(name)s, id + %(offset)s, owner, scope, scope_id, requires, min_authority, binding, version
FROM incumbent.shelves WHERE organization = %(of)s;

INSERT INTO incumbent.entries (organization, entry, fact_id, shelf, owner, changed, live, starts, ends,
    derived, length, tokens, key, terms, probes, vector, posted)
SELECT %(name)s, entry, fact_id, shelf + %(offset)s, owner, changed, live, starts, ends, derived,
    length, tokens, key, terms, probes, vector, array_to_tsvector(ARRAY(
        SELECT split_part(lexeme, 'x', 1)::bigint + %(offset)s || substr(lexeme, strpos(lexeme, 'x'))
        FROM unnest(tsvector_to_array(posted)) AS lexeme))
FROM incumbent.entries WHERE organization = %(of)s;

INSERT INTO incumbent.verdicts SELECT (jsonb_populate_record(v, jsonb_build_object(
    'organization', %(name)s::text))).* FROM incumbent.verdicts AS v WHERE organization = %(of)s;

INSERT INTO incumbent.facts SELECT (jsonb_populate_record(f, jsonb_build_object(
    'organization', %(name)s::text))).* FROM incumbent.facts AS f WHERE organization = %(of)s;
