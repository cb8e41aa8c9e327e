-- The slot of a valid fact of a single-valued address is its audience: '' where its owner is the
-- only condition on readers, else what memory it is, what it requires and from which rung on. What
-- one may not see must not stand in the way of what one writes.
UPDATE facts SET slot = CASE memory_type WHEN 'capability' THEN memory_type ELSE '' END
    || '|' || coalesce(requires, '') || '|' || coalesce(min_authority, '')
WHERE slot = '' AND (memory_type = 'capability' OR requires IS NOT NULL
    OR min_authority IS NOT NULL);
