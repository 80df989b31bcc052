-- Called on each new connection, with the version that the caller knows and the name of this start of the server.
local known, server = given_number(), given()
local version = redis.call('GET', typed('version', 'string'))
if not version then
    write('string', 'SET', 'version', int(known))
elseif not string.match(version, '^%d+$') then
    damage('the key `' .. prefix .. 'version`', 'it is ' .. version)
elseif tonumber(version) > known then
    return { 'too_new', version }
end
local before = redis.call('GET', typed('server', 'string'))
if before ~= server then
    -- What it wrote last may be lost. Offsets of what is lost are not given to anything else, since somebody may have
    -- read up to there. What is written here can be lost too, so the time is in it: between two starts, nobody writes
    -- 512 records in each millisecond.
    local offset = before and redis.call('GET', typed('offset', 'string')) or '0'
    if before then
        if #offset > 16 or not string.match(offset, '^%d+$') then
            damage('the key `' .. prefix .. 'offset`', 'it is ' .. offset)
        end
        write('string', 'SET', 'offset', int(math.max(offset + 1048576, 512 * claims_at('0'))))
    end
    write('string', 'SET', 'server', server)
end
commit()
return { 'ok' }
