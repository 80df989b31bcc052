-- Offsets are taken before the transaction commits, so a record can become visible after one with a greater offset.
-- Each transaction that adds records therefore announces, before it takes an offset, after which one its own will be:
-- by an advisory lock that it shares with others and holds until it has committed. A reader stops at the lowest that
-- is announced.

-- Returns how many they are: a caller that assigns this saves the plan that PERFORM would run.
CREATE FUNCTION {schema}.add_records(of_execution uuid, added text)
RETURNS bigint LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    how_many bigint;
BEGIN
    PERFORM pg_advisory_xact_lock_shared({class}, (CASE WHEN is_called THEN last_value ELSE 0 END & 2147483647)::integer)
    FROM {schema}.offsets;
    INSERT INTO {schema}.records
        ("offset", execution, seq, at_ms, kind, path, step, visit, item, attempt, payload)
    SELECT nextval('{schema}.offsets'), of_execution, seq, at_ms, kind, path, step, visit, item, attempt, payload
    FROM json_populate_recordset(NULL::{schema}.records, added::json);
    GET DIAGNOSTICS how_many = ROW_COUNT;
    RETURN how_many;
END {body};

-- Up to this offset, no record appears any more.
CREATE FUNCTION {schema}.complete_up_to() RETURNS bigint LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    taken bigint;
    announced bigint[];
    newest bigint;
BEGIN
    -- What announces itself after this takes greater offsets.
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO taken FROM {schema}.offsets;
    SELECT array_agg(objid::bigint) INTO announced FROM pg_locks
    WHERE locktype = 'advisory' AND classid = ({class})::bigint::oid AND objsubid = 2 AND mode = 'ShareLock' AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
    IF announced IS NULL THEN
        RETURN taken;
    END IF;
    -- Only the lower bits are in the locks. What was announced is not above this, since it was read before.
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO newest FROM {schema}.offsets;
    RETURN least(taken, (SELECT min(newest - ((newest - key) & 2147483647)) FROM unnest(announced) AS key));
END {body};

CREATE FUNCTION {schema}.log(of_execution uuid, after_offset bigint, at_most bigint)
RETURNS TABLE ("offset" bigint, execution uuid, seq bigint, at_ms bigint, kind text, path text, step text, visit bigint,
    item bigint, attempt bigint, payload text, owner text) LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    up_to bigint;
BEGIN
    FOR round IN 1..50 LOOP
        up_to := {schema}.complete_up_to();
        -- This statement sees what had been committed when the last one ended.
        IF of_execution IS NULL THEN
            RETURN QUERY SELECT r."offset", r.execution, r.seq, r.at_ms, r.kind, r.path, r.step, r.visit, r.item,
                r.attempt, r.payload, e.owner
            FROM {schema}.records AS r JOIN {schema}.executions AS e ON e.id = r.execution
            WHERE r."offset" > after_offset AND r."offset" <= up_to ORDER BY r."offset" LIMIT at_most;
        ELSE
            RETURN QUERY SELECT r."offset", r.execution, r.seq, r.at_ms, r.kind, r.path, r.step, r.visit, r.item,
                r.attempt, r.payload, e.owner
            FROM {schema}.records AS r JOIN {schema}.executions AS e ON e.id = r.execution
            WHERE r.execution = of_execution AND r."offset" > after_offset AND r."offset" <= up_to
            ORDER BY r.seq LIMIT at_most;
        END IF;
        -- What a writer has just written is held back by another that is about to commit.
        EXIT WHEN FOUND OR at_most = 0 OR NOT EXISTS (
            SELECT FROM {schema}.records AS r
            WHERE r."offset" > greatest(up_to, after_offset) AND (of_execution IS NULL OR r.execution = of_execution)
        );
        PERFORM pg_sleep(0.002);
    END LOOP;
END {body};

CREATE FUNCTION {schema}.last_offset() RETURNS bigint LANGUAGE plpgsql AS {body}
#variable_conflict use_column
DECLARE
    up_to bigint := {schema}.complete_up_to();
BEGIN
    RETURN (SELECT coalesce(max("offset"), 0) FROM {schema}.records WHERE "offset" <= up_to);
END {body};
