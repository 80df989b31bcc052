local after, count = given_number(), given_number()
local found = {}
local entries = redis.call('XRANGE', typed('log', 'stream'), int(after + 1), '+', 'COUNT', count)
for place, entry in ipairs(entries) do
    local offset = string.match(entry[1], '^(%d+)')
    local named = {}
    for at = 1, #entry[2], 2 do
        named[entry[2][at]] = entry[2][at + 1]
    end
    local execution, seq = named.execution, named.seq
    local record, owner = false, false
    if execution and seq and string.match(seq, '^%d+$') then
        local id = seq .. '-' .. offset
        local stored = redis.call('XRANGE', typed('records:' .. execution, 'stream'), id, id)[1]
        record = stored and stored[2] or false
        owner = redis.call('HGET', typed('execution:' .. execution, 'hash'), 'owner')
    end
    found[place] = { offset, execution or '', seq or '', owner, record }
end
return found
