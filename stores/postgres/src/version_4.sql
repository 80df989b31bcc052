-- Executions that are being cancelled, and the end of one that has not begun.

ALTER TABLE {schema}.executions
    ADD COLUMN cancelled_ms bigint CHECK (cancelled_ms >= 0); -- when it was cancelled, if it is undone first

CREATE INDEX executions_cancelling ON {schema}.executions (id)
    WHERE cancelled_ms IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');

-- Returns the number of the signal, or that and the digest of the one with its key, or the status of an execution that
-- is over.
CREATE OR REPLACE FUNCTION {schema}.signal(of_execution uuid, new_name text, new_payload text, new_digest text,
    new_key text, at_ms bigint, of_call uuid, again boolean)
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
    SET signals = e.signals, updated_ms = at_ms, timer_ms = e.timer_ms, wake_ms = e.wake_ms,
        cancelled_ms = CASE WHEN new_name = '!cancel' THEN at_ms ELSE cancelled_ms END
    WHERE id = of_execution;
    RETURN QUERY SELECT e.signals, NULL::text, NULL::text;
END {body};

CREATE FUNCTION {schema}.end_execution(of_execution uuid, new_status text, reason text, at_ms bigint,
    last_record text, untouched_since bigint, if_queued boolean)
RETURNS SETOF {schema}.executions LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    e {schema}.executions;
BEGIN
    SELECT * INTO e FROM {schema}.executions WHERE id = of_execution FOR UPDATE;
    IF NOT FOUND THEN
        RETURN; -- the next statement might see one that was created meanwhile
    END IF;
    IF e.status NOT IN ('completed', 'failed', 'cancelled') AND (NOT if_queued OR e.status = 'queued')
        AND (untouched_since IS NULL OR e.status = 'paused' AND e.updated_ms < untouched_since AND e.settled = 0
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

-- Processes of the version before call this one.
CREATE OR REPLACE FUNCTION {schema}.end_execution(of_execution uuid, new_status text, reason text, at_ms bigint,
    last_record text, untouched_since bigint) RETURNS SETOF {schema}.executions LANGUAGE plpgsql AS {body}
BEGIN
    RETURN QUERY SELECT * FROM {schema}.end_execution(of_execution, new_status, reason, at_ms, last_record,
        untouched_since, false);
END {body};
