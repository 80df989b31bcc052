-- Signals. Executions that were stored before have none of these values, and keep their checksums.

ALTER TABLE executions ADD COLUMN signals INTEGER; -- how many it was ever sent: the number of the newest
ALTER TABLE executions ADD COLUMN untaken INTEGER; -- how many of them the run has not taken
ALTER TABLE executions ADD COLUMN awaited TEXT; -- the names for which it waits, if it is paused, a line each

CREATE TABLE signals (
    execution TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL, -- within the execution, from 1
    name TEXT NOT NULL,
    payload TEXT, -- JSON, until the run takes it; then the row stays if it has a key
    digest TEXT NOT NULL,
    "key" TEXT,
    sent_ms INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (execution, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX signals_untaken ON signals (execution, name) WHERE payload IS NOT NULL;
CREATE UNIQUE INDEX signals_by_key ON signals (execution, "key") WHERE "key" IS NOT NULL;
