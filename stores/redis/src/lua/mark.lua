local again = is_repeated()
local id, fence, claim = given(), given_number(), given()
local halted, take_overs, taken_over_at = given_optional(), given_time(), given_time()
local options = given_optional()
local row = load(id)
if not row then
    return { 'not_found' }
end
if again and row.written_by_call == call then
    return { 'ok' }
end
local refused = lost(row, fence, claim)
if refused then
    return refused
end
local before = copy_of(row)
row.halted, row.take_overs, row.taken_over_at = halted, take_overs, taken_over_at
row.options = options or row.options
row.written_by_call = call
store(before, row)
commit()
return { 'ok' }
