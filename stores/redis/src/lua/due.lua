local callers, now_ms, after, limit = given(), given_number(), given(), given_number()
-- They wait for a time by the clock of the caller, or for the end of a claim by that of the server.
local at = claims_at(callers, now_ms)
local earlier, later = math.min(now_ms, at), math.max(now_ms, at)
local ids = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', typed('due', 'zset'), '-inf', int(earlier))) do
    if id > after then
        ids[#ids + 1] = id
    end
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', typed('due', 'zset'), '(' .. int(earlier), int(later))) do
    local is_sound, row = pcall(load, id)
    local ready = is_sound and row and ready_ms(row)
    if id > after and (not is_sound or not row or ready and ready <= now_ms and is_free(row, at)) then
        ids[#ids + 1] = id
    end
end
-- Those with a claim from a time when the clock was ahead.
for _, id in ipairs(redis.call('ZRANGEBYSCORE', typed('claims', 'zset'), '(' .. int(at), '+inf')) do
    local is_sound, row = pcall(load, id)
    local ready = is_sound and row and ready_ms(row)
    if id > after and (not is_sound or ready and ready <= now_ms) then
        ids[#ids + 1] = id
    end
end
table.sort(ids)
local due, count, last = {}, 0, nil
for _, id in ipairs(ids) do
    if count >= limit then
        break
    end
    if id ~= last then
        local is_sound, row = pcall(load_whole, id)
        if not is_sound then
            due[#due + 1] = { id, damage_in(row) }
        elseif not row then
            due[#due + 1] = { id, 'execution ' .. printable(id), 'it is listed, and is missing' }
        else
            due[#due + 1] = { id }
            count = count + 1
        end
    end
    last = id
end
return due
