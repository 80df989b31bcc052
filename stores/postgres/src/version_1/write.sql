-- Each write is one statement that calls one of these functions, so it is one transaction and one message to the
-- server. Refusals are errors, which undo what was written before them. All are in PL/pgSQL, which keeps the plans of
-- its statements; functions in SQL are planned at each call.

CREATE FUNCTION {schema}.recount(of_execution uuid) RETURNS void LANGUAGE plpgsql AS {body}
#variable_conflict use_column
BEGIN
    UPDATE {schema}.executions AS e SET expires_ms = q.expires_ms, settled = q.settled,
        wake_ms = least(q.expires_ms, e.timer_ms)
    FROM (
        SELECT min(expires_ms) FILTER (WHERE state = 'open') AS expires_ms,
            count(*) FILTER (WHERE state IN ('answered', 'timed_out')) AS settled
        FROM {schema}.pauses WHERE execution = of_execution
    ) AS q
    WHERE e.id = of_execution;
END {body};

CREATE FUNCTION {schema}.add_pauses(added text) RETURNS void LANGUAGE plpgsql AS {body}
#variable_conflict use_column
BEGIN
    INSERT INTO {schema}.pauses
        (token, execution, path, step, prompt, expected, "schema", created_ms, expires_ms, state, answer)
    SELECT token, execution, path, step, prompt, expected, "schema", created_ms, expires_ms, state, answer
    FROM json_populate_recordset(NULL::{schema}.pauses, added::json);
END {body};

CREATE FUNCTION {schema}.close_pauses(of_execution uuid, tokens uuid[]) RETURNS void LANGUAGE plpgsql AS {body}
#variable_conflict use_column
BEGIN
    UPDATE {schema}.pauses
    SET state = CASE state WHEN 'open' THEN 'withdrawn' WHEN 'answered' THEN 'used' WHEN 'timed_out' THEN 'expired' END
    WHERE execution = of_execution AND (tokens IS NULL OR token = ANY (tokens))
        AND state IN ('open', 'answered', 'timed_out');
END {body};

-- Returns the execution with the same key, if there is one. The claim of the new one is made here, if none is given.
CREATE FUNCTION {schema}.new_execution(given text, records text, pauses text) RETURNS uuid LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    e {schema}.executions := json_populate_record(NULL::{schema}.executions, given::json);
    existing uuid;
    added bigint;
BEGIN
    e.claimed_until_ms := coalesce(e.claimed_until_ms, {schema}.clock_ms(NULL) + e.lease_ms);
    LOOP
        INSERT INTO {schema}.executions SELECT e.*
        ON CONFLICT (flow, idempotency_key, coalesce(owner, ''), (owner IS NULL)) WHERE idempotency_key IS NOT NULL
        DO NOTHING;
        EXIT WHEN FOUND;
        SELECT id INTO existing FROM {schema}.executions
        WHERE flow = e.flow AND idempotency_key = e.idempotency_key AND owner IS NOT DISTINCT FROM e.owner;
        IF FOUND THEN
            RETURN existing;
        END IF; -- it was deleted meanwhile
    END LOOP;
    IF records IS NOT NULL THEN
        added := {schema}.add_records(e.id, records);
    END IF;
    IF pauses IS NOT NULL THEN
        PERFORM {schema}.add_pauses(pauses);
        IF e.status IN ('completed', 'failed', 'cancelled') THEN
            PERFORM {schema}.close_pauses(e.id, NULL);
        END IF;
        PERFORM {schema}.recount(e.id);
    END IF;
    RETURN NULL;
END {body};

-- Returns true if one that is queued may begin, since this one is over and has a concurrency key.
CREATE FUNCTION {schema}.append(of_execution uuid, with_fence bigint, at_ms bigint, first_seq bigint, count bigint,
    snapshot bigint, records text, opened text, closed uuid[], new_status text, new_result text, new_structure text,
    timer bigint, release boolean, prune_before bigint) RETURNS boolean LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    e {schema}.executions;
    over boolean := coalesce(new_status IN ('completed', 'failed', 'cancelled'), false);
    has_key boolean;
    unknown uuid;
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
            holder = CASE WHEN NOT release THEN holder END,
            claimed_until_ms = CASE WHEN NOT release THEN claimed_until_ms END,
            lease_ms = CASE WHEN NOT release THEN lease_ms END
        WHERE id = of_execution AND fence = with_fence AND holder IS NOT NULL AND (count = 0 OR next_seq = first_seq)
        RETURNING concurrency_key IS NOT NULL INTO has_key;
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
    RETURN over AND has_key;
END {body};

CREATE FUNCTION {schema}.end_execution(of_execution uuid, new_status text, reason text, at_ms bigint, last_record text,
    untouched_since bigint) RETURNS SETOF {schema}.executions LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    e {schema}.executions;
BEGIN
    SELECT * INTO e FROM {schema}.executions WHERE id = of_execution FOR UPDATE;
    IF NOT FOUND THEN
        RETURN; -- the next statement might see one that was created meanwhile
    END IF;
    IF e.status NOT IN ('completed', 'failed', 'cancelled') AND (untouched_since IS NULL
        OR e.status = 'paused' AND e.updated_ms < untouched_since AND e.settled = 0) THEN
        PERFORM {schema}.add_records(of_execution,
            json_build_array(jsonb_set(last_record::jsonb, ARRAY['seq'], to_jsonb(e.next_seq)))::text);
        PERFORM {schema}.close_pauses(of_execution, NULL);
        UPDATE {schema}.executions SET status = new_status, result = reason, updated_ms = end_execution.at_ms,
            next_seq = next_seq + 1, fence = fence + 1, holder = NULL, claimed_until_ms = NULL, lease_ms = NULL,
            timer_ms = NULL, expires_ms = NULL, wake_ms = NULL, settled = 0
        WHERE id = of_execution;
    END IF;
    RETURN QUERY SELECT * FROM {schema}.executions WHERE id = of_execution;
END {body};

-- Returns the question as it was before.
CREATE FUNCTION {schema}.settle(of_token uuid, new_state text, new_answer text, at_ms bigint, of_call uuid)
RETURNS SETOF {schema}.pauses LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    p {schema}.pauses;
BEGIN
    -- The execution is locked first, as by every write.
    PERFORM FROM {schema}.executions WHERE id = (SELECT execution FROM {schema}.pauses WHERE token = of_token)
    FOR UPDATE;
    SELECT * INTO p FROM {schema}.pauses WHERE token = of_token FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF p.state = 'open' THEN
        UPDATE {schema}.pauses SET state = new_state, answer = new_answer, settled_by_call = of_call
        WHERE token = of_token;
        UPDATE {schema}.executions SET updated_ms = settle.at_ms WHERE id = p.execution;
        PERFORM {schema}.recount(p.execution);
    ELSIF p.settled_by_call = of_call THEN
        -- The answer to this call was lost, and it is made again.
        p.state := 'open';
        p.answer := NULL;
    END IF;
    RETURN NEXT p;
END {body};

CREATE FUNCTION {schema}.delete_execution(of_execution uuid) RETURNS boolean LANGUAGE plpgsql AS {body}
#variable_conflict use_column
BEGIN
    PERFORM FROM {schema}.executions WHERE id = of_execution FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM {schema}.records WHERE execution = of_execution;
    DELETE FROM {schema}.pauses WHERE execution = of_execution;
    DELETE FROM {schema}.executions WHERE id = of_execution;
    RETURN true;
END {body};
