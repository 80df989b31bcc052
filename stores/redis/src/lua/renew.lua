is_repeated()
local holder, callers, given_until_ms = given(), given(), given_number()
local at = claims_at(callers, 0)
local held = {}
for _, id in ipairs(redis.call('ZRANGE', typed('held:' .. holder, 'zset'), 0, -1)) do
    -- One that is damaged does not cost the others their claims.
    local is_sound, row = pcall(load, id)
    if not is_sound then
        damage_in(row)
    elseif row and row.holder == holder then
        held[#held + 1] = string.format('%s %d', id, row.fence)
        local until_ms = callers == '1' and given_until_ms or claimed_until(at, row.lease_ms)
        if row.claimed_until_ms < until_ms then
            local before = copy_of(row)
            row.claimed_until_ms = until_ms
            store(before, row)
        end
    end
end
commit()
return held
