-- serves: 1
-- What lists of facts go along: the facts of an owner by the time at which they were recorded, those
-- that may hold office apart; and the live facts of drafts and hypotheticals.
-- Lists are the same without, and slower. While an index is made, writers wait and readers do not.
CREATE INDEX facts_recorded ON facts (organization, owner, live, recorded_at, id);
CREATE INDEX facts_branched ON facts (organization, owner, scope, scope_id)
    WHERE live AND scope IN ('draft', 'hypothetical');
