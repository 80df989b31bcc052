local id = given()
local found = {}
for place, token in ipairs(redis.call('ZRANGE', typed('open:' .. id, 'zset'), 0, -1)) do
    found[place] = { token, redis.call('HGETALL', typed('question:' .. token, 'hash')) }
end
return found
