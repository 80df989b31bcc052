-- The numbers of the records of an execution grow with their offsets.
local id, after, count = given(), given_number(), given_number()
local key = typed('records:' .. id, 'stream')
local first, last = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1], redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
if not last then
    return { false, {} }
end
local low, high = numbers_of(first[1]), numbers_of(last[1]) + 1
while low < high do
    local middle = math.floor((low + high) / 2)
    local _, offset = numbers_of(redis.call('XRANGE', key, int(middle), '+', 'COUNT', 1)[1][1])
    if offset > after then
        high = middle
    else
        low = middle + 1
    end
end
local entries = redis.call('XRANGE', key, int(low), '+', 'COUNT', count)
return { redis.call('HGET', typed('execution:' .. id, 'hash'), 'owner'), entries }
