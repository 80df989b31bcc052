-- Executions that are halted, and how often one was taken over.

ALTER TABLE {schema}.executions
    ADD COLUMN halted text, -- the reason
    ADD COLUMN take_overs bigint -- while the journal had the same length
        CHECK (take_overs BETWEEN 0 AND 4294967295),
    ADD COLUMN taken_over_at bigint CHECK (taken_over_at >= 0), -- that length
    ADD CHECK ((take_overs IS NULL) = (taken_over_at IS NULL));

CREATE INDEX executions_halted ON {schema}.executions (id) WHERE halted IS NOT NULL;
