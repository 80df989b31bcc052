local again = is_repeated()
local id, name, payload, digest = given(), given(), given(), given()
local key, now_ms = given_optional(), given_number()
local row = load(id)
if not row then
    return { 'not_found' }
end
local known = key and redis.call('HGET', typed('signal_keys:' .. id, 'hash'), key)
if known then
    local number, of_call, its_digest = string.match(known, '^(%d+) (%S+) (.*)$')
    if not number then
        damage('execution ' .. id, 'the signal with the key `' .. key .. '` is ' .. known)
    end
    -- The answer to this call was lost, and it is made again.
    if again and of_call == call then
        return { 'new', number }
    end
    return { 'existing', number, its_digest }
end
if again and not key then
    for _, entry in ipairs(redis.call('XREVRANGE', typed('signals:' .. id, 'stream'), '+', '-')) do
        for place = 1, #entry[2], 2 do
            if entry[2][place] == 'call' and entry[2][place + 1] == call then
                return { 'new', int(numbers_of(entry[1])) }
            end
        end
    end
end
if OVER[row.status] then
    return { 'over', row.status }
end

local before = copy_of(row)
row.signals = (row.signals or 0) + 1
row.updated_ms = now_ms
local number = int(row.signals)
local fields = { 'name', name, 'payload', payload, 'sent_ms', int(now_ms), 'call', call }
if key then
    fields[#fields + 1] = 'key'
    fields[#fields + 1] = key
end
-- This is the only write that the server can refuse because of what it has stored.
write('stream', 'XADD', 'signals:' .. id, number .. '-0', unpack(fields))
set_count(id, name, count_of(id, name) + 1)
if key then
    write('hash', 'HSET', 'signal_keys:' .. id, key, number .. ' ' .. call .. ' ' .. digest)
end
if name == '!cancel' then
    row.cancelled_ms = now_ms
end
for _, awaited in ipairs(awaited_by(row)) do
    if awaited == name then
        resume_from(row, now_ms)
    end
end
store(before, row)
commit()
return { 'new', number }
