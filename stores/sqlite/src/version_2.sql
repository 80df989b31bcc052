-- The queue. Executions that were stored before have none of these values, and keep their checksums.

ALTER TABLE executions ADD COLUMN priority INTEGER; -- 0 if there is none
ALTER TABLE executions ADD COLUMN not_before_ms INTEGER;
ALTER TABLE executions ADD COLUMN concurrency_key TEXT;
ALTER TABLE executions ADD COLUMN concurrency_limit INTEGER; -- how many with the key may be under way

-- In the order in which they leave the queue, with what says whether they may.
CREATE INDEX executions_queued
    ON executions (coalesce(priority, 0) DESC, id, flow, not_before_ms, concurrency_key, concurrency_limit)
    WHERE status = 'queued';
CREATE INDEX executions_by_concurrency ON executions (concurrency_key, status) WHERE concurrency_key IS NOT NULL;
