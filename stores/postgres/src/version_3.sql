-- Signals.

ALTER TABLE {schema}.executions
    ADD COLUMN signals bigint CHECK (signals >= 0), -- how many it was ever sent: the number of the newest
    ADD COLUMN awaited text[]; -- the names of those for which it waits, if it is paused

CREATE TABLE {schema}.signals (
    execution uuid NOT NULL,
    number bigint NOT NULL CHECK (number >= 0), -- within the execution, from 1
    name text NOT NULL,
    payload text, -- JSON, until the run takes it; then the row stays if it has a key
    digest text NOT NULL,
    "key" text,
    sent_ms bigint NOT NULL CHECK (sent_ms >= 0),
    sent_by_call uuid NOT NULL, -- the call that sent it, which finds that out if its answer was lost
    PRIMARY KEY (execution, number)
);

CREATE INDEX signals_untaken ON {schema}.signals (execution, name) WHERE payload IS NOT NULL;
CREATE UNIQUE INDEX signals_by_key ON {schema}.signals (execution, "key") WHERE "key" IS NOT NULL;

CREATE FUNCTION {schema}.has_signal(of_execution uuid, names text[]) RETURNS boolean LANGUAGE plpgsql AS {body}
#variable_conflict use_column
BEGIN
    RETURN EXISTS (
        SELECT FROM {schema}.signals WHERE execution = of_execution AND name = ANY (names) AND payload IS NOT NULL
    );
END {body};

-- Returns the number of the signal, or that and the digest of the one with its key, or the status of an execution that
-- is over.
CREATE FUNCTION {schema}.signal(of_execution uuid, new_name text, new_payload text, new_digest text, new_key text,
    at_ms bigint, of_call uuid, again boolean)
RETURNS TABLE (number bigint, existing text, over text) LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    e {schema}.executions;
    s {schema}.signals;
BEGIN
    SELECT * INTO e FROM {schema}.executions WHERE id = of_execution FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF new_key IS NOT NULL THEN
        SELECT * INTO s FROM {schema}.signals WHERE execution = of_execution AND "key" = new_key;
    ELSIF again THEN
        SELECT * INTO s FROM {schema}.signals WHERE execution = of_execution AND sent_by_call = of_call;
    END IF;
    IF s.number IS NOT NULL THEN
        -- If it is of this call, the answer was lost, and it is made again.
        RETURN QUERY SELECT s.number, CASE WHEN s.sent_by_call <> of_call THEN s.digest END, NULL::text;
        RETURN;
    END IF;
    IF e.status IN ('completed', 'failed', 'cancelled') THEN
        RETURN QUERY SELECT NULL::bigint, NULL::text, e.status;
        RETURN;
    END IF;
    e.signals := coalesce(e.signals, 0) + 1;
    INSERT INTO {schema}.signals VALUES
        (of_execution, e.signals, new_name, new_payload, new_digest, new_key, at_ms, of_call);
    IF new_name = ANY (e.awaited) THEN
        e.timer_ms := least(e.timer_ms, at_ms);
        e.wake_ms := least(e.wake_ms, at_ms);
    END IF;
    UPDATE {schema}.executions
    SET signals = e.signals, updated_ms = at_ms, timer_ms = e.timer_ms, wake_ms = e.wake_ms
    WHERE id = of_execution;
    RETURN QUERY SELECT e.signals, NULL::text, NULL::text;
END {body};

-- Returns true if an execution may begin or resume: one that is queued, since this one is over and has a concurrency
-- key, or this one, since it has a signal for which it pauses.
CREATE FUNCTION {schema}.append(of_execution uuid, with_fence bigint, at_ms bigint, first_seq bigint, count bigint,
    snapshot bigint, records text, opened text, closed uuid[], new_status text, new_result text, new_structure text,
    timer bigint, release boolean, prune_before bigint, taken bigint[], names text[])
RETURNS boolean LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    e {schema}.executions;
    over boolean := coalesce(new_status IN ('completed', 'failed', 'cancelled'), false);
    has_key boolean;
    waits boolean;
    resumes boolean := false;
    unknown uuid;
    unknown_number bigint;
    added bigint;
BEGIN
    IF over THEN
        release := true;
        timer := NULL;
    END IF;
    -- This locks the execution, checks the claim and writes in one statement: most appends are this one and the records.
    LOOP
        UPDATE {schema}.executions SET
            updated_ms = append.at_ms,
            next_seq = next_seq + count,
            snapshot_seq = coalesce(snapshot, snapshot_seq),
            status = coalesce(new_status, status),
            result = coalesce(new_result, result),
            structure = coalesce(new_structure, structure),
            timer_ms = timer,
            wake_ms = least(timer, expires_ms),
            awaited = CASE WHEN coalesce(new_status, status) = 'paused'
                THEN coalesce(names, CASE WHEN new_status IS NULL THEN awaited END) END,
            holder = CASE WHEN NOT release THEN holder END,
            claimed_until_ms = CASE WHEN NOT release THEN claimed_until_ms END,
            lease_ms = CASE WHEN NOT release THEN lease_ms END
        WHERE id = of_execution AND fence = with_fence AND holder IS NOT NULL AND (count = 0 OR next_seq = first_seq)
        RETURNING concurrency_key IS NOT NULL, awaited IS NOT NULL INTO has_key, waits;
        EXIT WHEN FOUND;
        SELECT * INTO e FROM {schema}.executions WHERE id = of_execution;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'not found' USING ERRCODE = 'FW001';
        END IF;
        IF e.fence <> with_fence OR e.holder IS NULL THEN
            RAISE EXCEPTION 'lease lost' USING ERRCODE = 'FW002';
        END IF;
        IF count > 0 AND e.next_seq <> first_seq THEN
            RAISE EXCEPTION 'gap' USING ERRCODE = 'FW003', DETAIL = e.next_seq::text;
        END IF;
    END LOOP; -- it was written to meanwhile
    IF count > 0 THEN
        added := {schema}.add_records(of_execution, records);
    END IF;
    IF opened IS NOT NULL THEN
        PERFORM {schema}.add_pauses(opened);
    END IF;
    IF closed IS NOT NULL THEN
        SELECT t INTO unknown FROM unnest(closed) AS t
        WHERE NOT EXISTS (SELECT FROM {schema}.pauses WHERE token = t AND execution = of_execution) LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'unknown token' USING ERRCODE = 'FW004', DETAIL = unknown::text;
        END IF;
    END IF;
    IF over THEN
        PERFORM FROM {schema}.pauses WHERE execution = of_execution LIMIT 1;
        IF FOUND THEN
            PERFORM {schema}.close_pauses(of_execution, NULL);
            PERFORM {schema}.recount(of_execution);
        END IF;
    ELSIF opened IS NOT NULL OR closed IS NOT NULL THEN
        IF closed IS NOT NULL THEN
            PERFORM {schema}.close_pauses(of_execution, closed);
        END IF;
        PERFORM {schema}.recount(of_execution);
    END IF;
    IF prune_before IS NOT NULL THEN
        PERFORM FROM {schema}.records
        WHERE execution = of_execution AND seq = prune_before AND kind = 'snapshot';
        IF NOT FOUND THEN
            RAISE EXCEPTION 'not a snapshot' USING ERRCODE = 'FW005';
        END IF;
        DELETE FROM {schema}.records WHERE execution = of_execution AND seq < prune_before;
    END IF;
    IF taken IS NOT NULL THEN
        FOREACH unknown_number IN ARRAY taken LOOP
            UPDATE {schema}.signals SET payload = NULL
            WHERE execution = of_execution AND number = unknown_number AND payload IS NOT NULL;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'not a signal' USING ERRCODE = 'FW006', DETAIL = unknown_number::text;
            END IF;
        END LOOP;
        DELETE FROM {schema}.signals WHERE execution = of_execution AND number = ANY (taken) AND "key" IS NULL;
    END IF;
    IF waits THEN
        UPDATE {schema}.executions
        SET timer_ms = least(timer_ms, append.at_ms), wake_ms = least(wake_ms, append.at_ms)
        WHERE id = of_execution AND {schema}.has_signal(of_execution, awaited);
        resumes := FOUND;
    END IF;
    RETURN over AND has_key OR resumes;
END {body};

-- Processes of the version before call this one.
CREATE OR REPLACE FUNCTION {schema}.append(of_execution uuid, with_fence bigint, at_ms bigint, first_seq bigint,
    count bigint, snapshot bigint, records text, opened text, closed uuid[], new_status text, new_result text,
    new_structure text, timer bigint, release boolean, prune_before bigint) RETURNS boolean LANGUAGE plpgsql AS {body}
BEGIN
    RETURN {schema}.append(of_execution, with_fence, at_ms, first_seq, count, snapshot, records, opened, closed,
        new_status, new_result, new_structure, timer, release, prune_before, NULL, NULL);
END {body};

CREATE OR REPLACE FUNCTION {schema}.end_execution(of_execution uuid, new_status text, reason text, at_ms bigint,
    last_record text, untouched_since bigint) RETURNS SETOF {schema}.executions LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    e {schema}.executions;
BEGIN
    SELECT * INTO e FROM {schema}.executions WHERE id = of_execution FOR UPDATE;
    IF NOT FOUND THEN
        RETURN; -- the next statement might see one that was created meanwhile
    END IF;
    IF e.status NOT IN ('completed', 'failed', 'cancelled') AND (untouched_since IS NULL
        OR e.status = 'paused' AND e.updated_ms < untouched_since AND e.settled = 0
            AND (e.awaited IS NULL OR NOT {schema}.has_signal(of_execution, e.awaited))) THEN
        PERFORM {schema}.add_records(of_execution,
            json_build_array(jsonb_set(last_record::jsonb, ARRAY['seq'], to_jsonb(e.next_seq)))::text);
        PERFORM {schema}.close_pauses(of_execution, NULL);
        UPDATE {schema}.executions SET status = new_status, result = reason, updated_ms = end_execution.at_ms,
            next_seq = next_seq + 1, fence = fence + 1, holder = NULL, claimed_until_ms = NULL, lease_ms = NULL,
            timer_ms = NULL, expires_ms = NULL, wake_ms = NULL, settled = 0, awaited = NULL
        WHERE id = of_execution;
    END IF;
    RETURN QUERY SELECT * FROM {schema}.executions WHERE id = of_execution;
END {body};

CREATE OR REPLACE FUNCTION {schema}.delete_execution(of_execution uuid) RETURNS boolean LANGUAGE plpgsql AS {body}
#variable_conflict use_column
BEGIN
    PERFORM FROM {schema}.executions WHERE id = of_execution FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM {schema}.records WHERE execution = of_execution;
    DELETE FROM {schema}.pauses WHERE execution = of_execution;
    DELETE FROM {schema}.signals WHERE execution = of_execution;
    DELETE FROM {schema}.executions WHERE id = of_execution;
    RETURN true;
END {body};
