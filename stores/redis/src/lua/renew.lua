is_repeated()
local holder, until_ms = given(), given_number()
local held = {}
for _, id in ipairs(redis.call('ZRANGE', typed('held:' .. holder, 'zset'), 0, -1)) do
    -- One that is damaged does not cost the others their claims.
    local is_sound, row = pcall(load, id)
    if not is_sound then
        damage_in(row)
    elseif row and row.holder == holder then
        held[#held + 1] = id
        if row.claimed_until_ms < until_ms then
            local before = copy_of(row)
            row.claimed_until_ms = until_ms
            store(before, row)
        end
    end
end
commit()
return held
