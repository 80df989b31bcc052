is_repeated()
local id, status, seq, at_ms = given(), given(), given_number(), given_number()
local records = given_records(1)

local row = load_whole(id)
if not row then
    return { 'not_found' }
end
if OVER[row.status] and row.next_seq == seq then
    local before = copy_of(row)
    add_records(row, records, 0)
    before.result = '' -- which is not loaded, and is removed
    row.status, row.updated_ms = status, at_ms
    row.halted, row.take_overs, row.taken_over_at, row.cancelled_ms = nil, nil, nil, nil
    store(before, row)
    commit()
end
return { 'row', fields_of(id) }
