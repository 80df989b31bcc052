-- One process after the other takes, so that each sees what the ones before it took.
CREATE FUNCTION {schema}.take_queued(flows text, at_most bigint, new_holder uuid, now_ms bigint, claims_at bigint,
    lease bigint, of_call uuid, again boolean) RETURNS SETOF {schema}.executions LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    next record;
    places jsonb := flows::jsonb;
    under_way jsonb := jsonb_build_object();
    others bigint;
    places_left bigint := at_most;
BEGIN
    IF places_left <= 0 THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock({class}, -1);
    IF again THEN
        RETURN QUERY SELECT * FROM {schema}.executions WHERE holder = new_holder AND claimed_by_call = of_call
        ORDER BY priority DESC, id;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    -- A row is locked, which is a write, only when it was chosen.
    FOR next IN
        SELECT id, flow, concurrency_key, concurrency_limit FROM {schema}.executions
        WHERE status = 'queued' AND (not_before_ms IS NULL OR not_before_ms <= now_ms)
            AND (holder IS NULL OR claimed_until_ms <= {schema}.clock_ms(claims_at)) AND (places ->> flow)::bigint > 0
        ORDER BY priority DESC, id
    LOOP
        CONTINUE WHEN (places ->> next.flow)::bigint <= 0;
        IF next.concurrency_key IS NOT NULL THEN
            others := (under_way ->> next.concurrency_key)::bigint;
            IF others IS NULL THEN
                SELECT count(*) INTO others FROM {schema}.executions
                WHERE concurrency_key = next.concurrency_key AND status IN ('running', 'paused');
            END IF;
            under_way := under_way || jsonb_build_object(next.concurrency_key, others);
            CONTINUE WHEN others >= next.concurrency_limit;
        END IF;
        -- Somebody may have claimed, ended or deleted it meanwhile, or be about to.
        PERFORM FROM {schema}.executions
        WHERE id = next.id AND status = 'queued'
            AND (holder IS NULL OR claimed_until_ms <= {schema}.clock_ms(claims_at))
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        IF next.concurrency_key IS NOT NULL THEN
            under_way := under_way || jsonb_build_object(next.concurrency_key, others + 1);
        END IF;
        places := places || jsonb_build_object(next.flow, (places ->> next.flow)::bigint - 1);
        RETURN QUERY UPDATE {schema}.executions SET status = 'running', fence = fence + 1, updated_ms = now_ms,
            holder = new_holder, claimed_until_ms = {schema}.clock_ms(claims_at) + lease, lease_ms = lease, claimed_by_call = of_call
        WHERE id = next.id RETURNING *;
        places_left := places_left - 1;
        EXIT WHEN places_left = 0;
    END LOOP;
END {body};
