-- What is kept as it was said meets only what says the same, and there may be very much of it.
CREATE INDEX facts_said ON facts (organization, owner, value) WHERE live = 1 AND key = '';
