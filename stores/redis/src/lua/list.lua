-- One page, of the shortest of the lists that these names say. Without the fields of those that are not looked for, since
-- they ask somebody (`0` is given) or do not (`1`).
local max, count, asks = given(), given_number(), given()
local best, length
for _ = 1, given_number() do
    local key = typed(given(), 'zset')
    local found = redis.call('ZCARD', key)
    if not best or found < length then
        best, length = key, found
    end
end

-- Those that are settled are listed until the execution has gone on.
local function has_open_question(id, key)
    local settled = tonumber(redis.call('HGET', key, 'settled')) or 0
    return redis.call('ZCARD', typed('open:' .. id, 'zset')) > settled
end

-- A process of an earlier version has deleted it, without the lists that it does not know.
local function is_deleted(id, key)
    return redis.call('EXISTS', key) == 0 and not redis.call('ZSCORE', typed('ids', 'zset'), id)
end

local rows = {}
for place, id in ipairs(redis.call('ZREVRANGEBYLEX', best, max, '-', 'LIMIT', 0, count)) do
    local key = typed('execution:' .. id, 'hash')
    if is_deleted(id, key) then
        rows[place] = { id }
    elseif asks == '' or (asks == '1') == has_open_question(id, key) then
        rows[place] = { id, redis.call('HGETALL', key) }
    else
        rows[place] = { id }
    end
end
return rows
