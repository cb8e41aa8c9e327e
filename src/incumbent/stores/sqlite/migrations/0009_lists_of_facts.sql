-- What lists of facts go along: the facts of an owner by the time at which they were recorded, those
-- that may hold office apart; and the live facts of drafts and hypotheticals.
CREATE INDEX facts_recorded ON facts (organization, owner, live, recorded_at, id);
CREATE INDEX facts_branched ON facts (organization, owner, scope, scope_id)
    WHERE live = 1 AND scope IN ('draft', 'hypothetical');
