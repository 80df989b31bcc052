local again = is_repeated()
local id, holder, now_ms, until_ms, lease_ms = given(), given(), given_number(), given_number(), given_number()
local row = load_whole(id)
if not row or OVER[row.status] then
    return { 'none' }
end
if not is_free(row, now_ms) then
    -- A claim of which its holder does not know would keep everybody out.
    if again and is_claimed_by(row, holder) then
        return { 'row', fields_of(id) }
    end
    return { 'none' }
end
local before = copy_of(row)
claim_for(row, holder, until_ms, lease_ms)
store(before, row)
commit()
return { 'row', fields_of(id) }
