-- Each row has a checksum of all that is stored of it: one that is changed by hand cannot be read any more.

CREATE TABLE structures (
    hash TEXT PRIMARY KEY,
    structure TEXT NOT NULL, -- JSON
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE executions (
    id TEXT PRIMARY KEY, -- a UUID; later ones are greater
    flow TEXT NOT NULL,
    structure TEXT NOT NULL, -- the hash
    owner TEXT,
    idempotency_key TEXT,
    input_hash TEXT NOT NULL,
    status TEXT NOT NULL, -- running, paused, completed, failed, cancelled
    format INTEGER NOT NULL, -- of the journal
    options TEXT NOT NULL, -- JSON
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    next_seq INTEGER NOT NULL,
    first_seq INTEGER NOT NULL, -- of the records that were not pruned
    snapshot_seq INTEGER,
    copied_from TEXT,
    result TEXT, -- the output as JSON, or the reason
    fence INTEGER NOT NULL,
    holder TEXT, -- the UUID of who has claimed it
    claimed_ms INTEGER, -- when it was claimed or the claim prolonged, by the clock of the holder
    claimed_until_ms INTEGER,
    timer_ms INTEGER, -- when it goes on by itself, if it is paused
    wake_ms INTEGER, -- that, or when the first of the open questions is no longer to be answered
    settled INTEGER NOT NULL, -- how many questions have an answer that the run has not seen
    unclosed INTEGER NOT NULL, -- how many questions it has that are not closed
    due_ms INTEGER, -- from when on it could go on, if nobody writes to it
    checksum INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX executions_by_idempotency_key
    ON executions (flow, idempotency_key, coalesce(owner, ''), owner IS NULL)
    WHERE idempotency_key IS NOT NULL;
-- Executions are looked for by owner, those that have none included.
CREATE INDEX executions_by_owner ON executions (owner, id);
CREATE INDEX executions_by_flow ON executions (owner, flow, id);
CREATE INDEX executions_by_status ON executions (owner, status, id);
CREATE INDEX executions_by_holder ON executions (holder, id) WHERE holder IS NOT NULL;
CREATE INDEX executions_claimed ON executions (claimed_ms, id) WHERE claimed_ms IS NOT NULL;
CREATE INDEX executions_due ON executions (due_ms, id) WHERE due_ms IS NOT NULL;

CREATE TABLE records (
    "offset" INTEGER PRIMARY KEY, -- among the records of all executions
    execution TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
    owner TEXT, -- that of the execution
    seq INTEGER NOT NULL, -- within the execution, from 0
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    step TEXT NOT NULL, -- no other step of the execution has it
    visit INTEGER NOT NULL,
    item INTEGER,
    attempt INTEGER NOT NULL,
    payload TEXT NOT NULL, -- JSON, or empty
    checksum INTEGER NOT NULL,
    UNIQUE (execution, seq)
) STRICT;

-- `AUTOINCREMENT` would write to one more page with every record, and only what is deleted makes it necessary: pruning
-- leaves the newest record.
CREATE TABLE deleted (
    "offset" INTEGER NOT NULL -- the newest that there was at a deletion: none up to it is given again
) STRICT;

INSERT INTO deleted VALUES (0);

CREATE TRIGGER executions_deleted BEFORE DELETE ON executions BEGIN
    UPDATE deleted SET "offset" = max("offset", (SELECT coalesce(max("offset"), 0) FROM records));
END;

CREATE TABLE pauses (
    number INTEGER PRIMARY KEY, -- in the order asked
    token TEXT NOT NULL UNIQUE, -- a UUID
    execution TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    step TEXT NOT NULL,
    prompt TEXT NOT NULL,
    expected TEXT NOT NULL,
    "schema" TEXT, -- JSON
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    state TEXT NOT NULL, -- open, answered, timed_out; when the run has gone on: used, expired, withdrawn
    answer TEXT, -- JSON
    checksum INTEGER NOT NULL
) STRICT;

CREATE INDEX pauses_by_execution ON pauses (execution, state);

CREATE VIEW journal AS
    SELECT
        records."offset",
        strftime('%Y-%m-%d %H:%M:%f', records.at_ms / 1000.0, 'unixepoch') AS time,
        executions.flow,
        records.execution,
        records.seq,
        records.kind,
        records.path,
        records.step,
        records.item,
        records.attempt,
        records.payload
    FROM records JOIN executions ON executions.id = records.execution;
