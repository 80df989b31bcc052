-- One page, of the shortest of the lists that these names say.
local max, count = given(), given_number()
local best, length
for _ = 1, given_number() do
    local key = typed(given(), 'zset')
    local found = redis.call('ZCARD', key)
    if not best or found < length then
        best, length = key, found
    end
end
local rows = {}
for place, id in ipairs(redis.call('ZREVRANGEBYLEX', best, max, '-', 'LIMIT', 0, count)) do
    rows[place] = { id, redis.call('HGETALL', typed('execution:' .. id, 'hash')) }
end
return rows
