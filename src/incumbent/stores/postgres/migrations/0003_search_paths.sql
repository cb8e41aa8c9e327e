-- serves: 1
-- Functions that see past the fence look in no place where a caller can put something.

-- What a role makes for its session only is looked at before everything else, unless a path says
-- when: a type of the caller's own, named "text" or "tsquery" and with a check, ran here with the
-- rights of whoever owns the tables. Last in the path it hides nothing. Nobody's work is kept from
-- going on: a call that has begun ends as it began, and the next one finds the new path.
ALTER FUNCTION {schema}.entry_at(bigint) SET search_path = pg_catalog, {schema}, pg_temp;
ALTER FUNCTION {schema}.posted_under(text[], bigint) SET search_path = pg_catalog, {schema}, pg_temp;
ALTER FUNCTION {schema}.organization_names() SET search_path = pg_catalog, {schema}, pg_temp;
ALTER FUNCTION {schema}.key_of_id(text) SET search_path = pg_catalog, {schema}, pg_temp;
ALTER FUNCTION {schema}.key_organizations() SET search_path = pg_catalog, {schema}, pg_temp;
