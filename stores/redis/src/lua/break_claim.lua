local again = is_repeated()
local id, holder, until_ms, lease_ms = given(), given(), given_number(), given_number()
local row = load(id)
if not row or row.holder ~= holder or row.lease_ms ~= lease_ms then
    return { 'no' }
end
if row.claimed_until_ms ~= until_ms then
    local is_broken = again and row.claimed_until_ms == lease_ms
    return { is_broken and 'yes' or 'no' }
end
local before = copy_of(row)
row.claimed_until_ms = lease_ms
store(before, row)
commit()
return { 'yes' }
