-- Times are in milliseconds since 1970 (UTC).

-- The time at which claims are judged: that of this database, or one that is given. It is read when it is needed, not
-- when the transaction began, which may have waited for a lock.
CREATE FUNCTION {schema}.clock_ms(given bigint) RETURNS bigint LANGUAGE sql VOLATILE AS {body}
    SELECT coalesce(given, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
{body};

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
    status text NOT NULL CHECK (status IN ('queued', 'running', 'paused', 'completed', 'failed', 'cancelled')),
    format bigint NOT NULL CHECK (format BETWEEN 0 AND 4294967295), -- of the journal
    options text NOT NULL, -- JSON
    created_ms bigint NOT NULL CHECK (created_ms >= 0),
    updated_ms bigint NOT NULL CHECK (updated_ms >= 0),
    next_seq bigint NOT NULL CHECK (next_seq >= 0),
    snapshot_seq bigint CHECK (snapshot_seq >= 0),
    copied_from uuid,
    result text, -- the output as JSON, or the reason
    fence bigint NOT NULL CHECK (fence >= 0),
    holder uuid, -- who has claimed it
    claimed_until_ms bigint CHECK (claimed_until_ms >= 0),
    lease_ms bigint CHECK (lease_ms >= 0), -- the length for which it was claimed
    timer_ms bigint, -- when it continues by itself, if it is paused
    expires_ms bigint, -- when the first of the open questions expires
    wake_ms bigint CHECK (wake_ms >= 0), -- the earlier of these two
    settled bigint NOT NULL, -- how many questions have an answer that the run has not seen
    priority integer NOT NULL,
    not_before_ms bigint CHECK (not_before_ms >= 0),
    concurrency_key text,
    concurrency_limit bigint -- how many with the key may be under way
        CHECK (concurrency_limit BETWEEN 0 AND 4294967295),
    created_by_call uuid, -- the call that created it, which finds that out if its answer was lost
    claimed_by_call uuid, -- the call that made the claim, which finds it again if its answer was lost
    CHECK ((holder IS NULL) = (claimed_until_ms IS NULL) AND (holder IS NULL) = (lease_ms IS NULL)),
    CHECK ((concurrency_key IS NULL) = (concurrency_limit IS NULL))
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
    seq bigint NOT NULL CHECK (seq >= 0), -- within the execution, from 0
    at_ms bigint NOT NULL CHECK (at_ms >= 0),
    kind text NOT NULL,
    path text NOT NULL,
    step text NOT NULL, -- no other step of the execution has it
    visit bigint NOT NULL CHECK (visit BETWEEN 0 AND 4294967295),
    item bigint CHECK (item BETWEEN 0 AND 4294967295),
    attempt bigint NOT NULL CHECK (attempt BETWEEN 0 AND 4294967295),
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
    created_ms bigint NOT NULL CHECK (created_ms >= 0),
    expires_ms bigint CHECK (expires_ms >= 0),
    state text NOT NULL -- the last three: when the run has continued
        CHECK (state IN ('open', 'answered', 'timed_out', 'used', 'expired', 'withdrawn')),
    answer text, -- JSON
    settled_by_call uuid, -- the call that settled it, which finds that out if its answer was lost
    CHECK (state <> 'answered' OR answer IS NOT NULL)
);

CREATE INDEX pauses_by_execution ON {schema}.pauses (execution, number);
