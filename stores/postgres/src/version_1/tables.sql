-- Times are in milliseconds since 1970 (UTC).

CREATE TABLE {schema}.structures (
    hash text PRIMARY KEY,
    structure text NOT NULL -- JSON
);

CREATE TABLE {schema}.executions (
    id uuid PRIMARY KEY, -- later ones are greater
    flow text NOT NULL,
    structure text NOT NULL, -- the hash
    owner text,
    idempotency_key text,
    input_hash text NOT NULL,
    status text NOT NULL, -- queued, running, paused, completed, failed, cancelled
    format bigint NOT NULL, -- of the journal
    options text NOT NULL, -- JSON
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    next_seq bigint NOT NULL,
    snapshot_seq bigint,
    copied_from uuid,
    result text, -- the output as JSON, or the reason
    fence bigint NOT NULL,
    holder uuid, -- who has claimed it
    claimed_until_ms bigint,
    lease_ms bigint, -- the length for which it was claimed
    timer_ms bigint, -- when it continues by itself, if it is paused
    expires_ms bigint, -- when the first of the open questions expires
    wake_ms bigint, -- the earlier of these two
    settled bigint NOT NULL, -- how many questions have an answer that the run has not seen
    priority integer NOT NULL,
    not_before_ms bigint,
    concurrency_key text,
    concurrency_limit bigint -- how many with the key may be under way
) WITH (fillfactor = 70); -- room for the new version of a row next to the old one

CREATE UNIQUE INDEX executions_by_idempotency_key
    ON {schema}.executions (flow, idempotency_key, coalesce(owner, ''), (owner IS NULL))
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX executions_by_owner ON {schema}.executions (owner, id);
CREATE INDEX executions_by_flow ON {schema}.executions (flow, id);
CREATE INDEX executions_by_status ON {schema}.executions (status, id);
CREATE INDEX executions_by_holder ON {schema}.executions (holder, id) WHERE holder IS NOT NULL;
CREATE INDEX executions_settled ON {schema}.executions (id) WHERE status = 'paused' AND settled > 0;
CREATE INDEX executions_by_wake ON {schema}.executions (wake_ms, id) WHERE status = 'paused' AND wake_ms IS NOT NULL;
CREATE INDEX executions_queued ON {schema}.executions (priority DESC, id) WHERE status = 'queued';
CREATE INDEX executions_by_concurrency ON {schema}.executions (concurrency_key, status)
    WHERE concurrency_key IS NOT NULL;

CREATE SEQUENCE {schema}.offsets; -- each session takes one at a time, so that later ones are greater

CREATE TABLE {schema}.records (
    "offset" bigint PRIMARY KEY, -- among the records of all executions
    execution uuid NOT NULL,
    seq bigint NOT NULL, -- within the execution, from 0
    at_ms bigint NOT NULL,
    kind text NOT NULL,
    path text NOT NULL,
    step text NOT NULL, -- no other step of the execution has it
    visit bigint NOT NULL,
    item bigint,
    attempt bigint NOT NULL,
    payload text NOT NULL, -- JSON, or empty
    UNIQUE (execution, seq)
);

CREATE TABLE {schema}.pauses (
    token uuid PRIMARY KEY,
    number bigserial, -- in the order asked
    execution uuid NOT NULL,
    path text NOT NULL,
    step text NOT NULL,
    prompt text NOT NULL,
    expected text NOT NULL,
    "schema" text, -- JSON
    created_ms bigint NOT NULL,
    expires_ms bigint,
    state text NOT NULL, -- open, answered, timed_out; when the run has continued: used, expired, withdrawn
    answer text -- JSON
);

CREATE INDEX pauses_by_execution ON {schema}.pauses (execution, number);
