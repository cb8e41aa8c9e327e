-- serves: 7
-- What is kept as it was said has no key. Until here the word "statement" stood in its place, where
-- older code goes on to put it and to look for it.

-- Writers lock their organization before its facts; so does this, or each could wait for the other.
SELECT organization FROM organizations WHERE organization IN (
    SELECT organization FROM facts WHERE key = 'statement') FOR NO KEY UPDATE;

-- Processes that are running keep what they have read as long as the marks go on, and an index as
-- long as its recipe is theirs.
WITH unnamed AS (
    UPDATE facts SET key = ''
    WHERE key = 'statement' AND source::json ->> 'turn_index' IS NOT NULL RETURNING organization)
UPDATE organizations SET revision = revision + 1, marks = '{}',
    recipe = CASE WHEN recipe IS NOT NULL THEN '' END
WHERE organization IN (SELECT organization FROM unnamed);
