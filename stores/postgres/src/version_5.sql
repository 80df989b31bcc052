-- Executions that are over and continue.

CREATE FUNCTION {schema}.reopen_execution(of_execution uuid, new_status text, at_seq bigint, at_ms bigint,
    next_record text)
RETURNS SETOF {schema}.executions LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    e {schema}.executions;
BEGIN
    SELECT * INTO e FROM {schema}.executions WHERE id = of_execution FOR UPDATE;
    IF NOT FOUND THEN
        RETURN; -- the next statement might see one that was created meanwhile
    END IF;
    IF e.status IN ('completed', 'failed', 'cancelled') AND e.next_seq = at_seq THEN
        PERFORM {schema}.add_records(of_execution, json_build_array(next_record::jsonb)::text);
        UPDATE {schema}.executions SET status = new_status, result = NULL, updated_ms = reopen_execution.at_ms,
            next_seq = next_seq + 1, halted = NULL, take_overs = NULL, taken_over_at = NULL, cancelled_ms = NULL
        WHERE id = of_execution;
    END IF;
    RETURN QUERY SELECT * FROM {schema}.executions WHERE id = of_execution;
END {body};
