-- Also of what is damaged, so it relies on nothing.
local again = is_repeated()
local id = given()
local flat = redis.call('HGETALL', typed('execution:' .. id, 'hash'))
if #flat == 0 then
    local is_mine = again and redis.call('GET', typed('deleted:' .. id, 'string')) == call
    return { is_mine and 'yes' or 'no' }
end
local row = {}
for place = 1, #flat, 2 do
    row[flat[place]] = flat[place + 1]
end
for _, name in ipairs({ 'ids', 'due', 'claims', 'halted', 'cancelling' }) do
    write('zset', 'ZREM', name, id)
end
for status in pairs(STATUSES) do
    write('zset', 'ZREM', 'status:' .. status, id)
end
for list, field in pairs({ held = 'holder', queue = 'flow', later = 'flow', flow = 'flow', owner = 'owner',
    under_way = 'concurrency_key' }) do
    if row[field] then
        write('zset', 'ZREM', list .. ':' .. row[field], id)
    end
end
if row.idempotency_key and row.flow then
    local owner = row.owner and #row.owner .. ':' .. row.owner or 'none'
    write('hash', 'HDEL', 'keys', #row.flow .. ':' .. row.flow .. ' ' .. owner .. ' ' .. row.idempotency_key)
end
for _, entry in ipairs(redis.call('XRANGE', typed('records:' .. id, 'stream'), '-', '+')) do
    local _, offset = numbers_of(entry[1])
    write('stream', 'XDEL', 'log', int(offset) .. '-0')
end
for _, token in ipairs(redis.call('SMEMBERS', typed('asked:' .. id, 'set'))) do
    write('hash', 'DEL', 'question:' .. token)
end
write('set', 'DEL', 'asked:' .. id)
write('zset', 'DEL', 'open:' .. id)
write('stream', 'DEL', 'records:' .. id)
write('stream', 'DEL', 'signals:' .. id)
write('hash', 'DEL', 'signal_names:' .. id)
write('hash', 'DEL', 'signal_keys:' .. id)
write('hash', 'DEL', 'execution:' .. id)
write('string', 'SET', 'deleted:' .. id, call, 'PX', 3600000)
commit()
return { 'yes' }
