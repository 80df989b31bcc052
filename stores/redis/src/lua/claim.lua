local again = is_repeated()
local id, holder = given(), given()
local at, lease_ms = claims_at(given(), given_number()), given_number()
local row = load_whole(id)
if not row or OVER[row.status] then
    return { 'none' }
end
if not is_free(row, at) then
    -- A claim of which its holder does not know would keep everybody out.
    if again and is_claimed_by(row, holder) then
        return { 'row', fields_of(id) }
    end
    return { 'none' }
end
local before = copy_of(row)
claim_for(row, holder, at, lease_ms)
store(before, row)
commit()
return { 'row', fields_of(id) }
