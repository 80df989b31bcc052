-- One process after the other takes, so that each sees what the ones before it took.
CREATE FUNCTION {schema}.take_queued(flows text, at_most bigint, new_holder uuid, now_ms bigint, until_ms bigint,
    lease bigint) RETURNS SETOF {schema}.executions LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    e {schema}.executions;
    places jsonb := flows::jsonb;
    under_way jsonb := '{}';
    others bigint;
    places_left bigint := at_most;
BEGIN
    IF places_left <= 0 THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock({class}, -1);
    FOR e IN
        SELECT * FROM {schema}.executions
        WHERE status = 'queued' AND (not_before_ms IS NULL OR not_before_ms <= now_ms)
            AND (holder IS NULL OR claimed_until_ms <= now_ms) AND places ? flow
        ORDER BY priority DESC, id
        FOR UPDATE SKIP LOCKED
    LOOP
        CONTINUE WHEN (places ->> e.flow)::bigint <= 0;
        IF e.concurrency_key IS NOT NULL THEN
            others := (under_way ->> e.concurrency_key)::bigint;
            IF others IS NULL THEN
                SELECT count(*) INTO others FROM {schema}.executions
                WHERE concurrency_key = e.concurrency_key AND status IN ('running', 'paused');
            END IF;
            under_way := under_way || jsonb_build_object(e.concurrency_key, others);
            CONTINUE WHEN others >= e.concurrency_limit;
            under_way := under_way || jsonb_build_object(e.concurrency_key, others + 1);
        END IF;
        places := places || jsonb_build_object(e.flow, (places ->> e.flow)::bigint - 1);
        RETURN QUERY UPDATE {schema}.executions SET status = 'running', fence = fence + 1, updated_ms = now_ms,
            holder = new_holder, claimed_until_ms = until_ms, lease_ms = lease
        WHERE id = e.id RETURNING *;
        places_left := places_left - 1;
        EXIT WHEN places_left = 0;
    END LOOP;
END $$;
