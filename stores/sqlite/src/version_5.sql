-- Executions that are being cancelled. Those that were stored before have no such value, and keep their checksums.

ALTER TABLE executions ADD COLUMN cancelled_ms INTEGER; -- when it was cancelled, if it is undone first

CREATE INDEX executions_cancelling ON executions (id)
    WHERE cancelled_ms IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');
