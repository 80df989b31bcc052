-- Executions that are halted, and how often one was taken over. Executions that were stored before have none of these
-- values, and keep their checksums.

ALTER TABLE executions ADD COLUMN halted TEXT; -- the reason
ALTER TABLE executions ADD COLUMN take_overs INTEGER; -- while the journal had the same length
ALTER TABLE executions ADD COLUMN taken_over_at INTEGER; -- that length

CREATE INDEX executions_halted ON executions (id) WHERE halted IS NOT NULL;
