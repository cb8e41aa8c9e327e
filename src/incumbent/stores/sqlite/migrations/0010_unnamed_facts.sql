-- What is kept as it was said has no key. Until here the word "statement" stood in its place.
UPDATE facts SET key = ''
WHERE key = 'statement' AND json_extract(source, '$.turn_index') IS NOT NULL;
