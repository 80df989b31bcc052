is_repeated()
local id, status, reason, at_ms, since, only = given(), given(), given(), given_number(), given_time(), given()
local records = given_records(1)

local row = load_whole(id)
if not row then
    return { 'not_found' }
end
local is_untouched = not since or row.status == 'paused' and row.updated_ms < since and row.settled == 0
    and not has_awaited(row, {})
local is_it = only == '' or row.status == only
if not OVER[row.status] and is_untouched and is_it then
    local before = copy_of(row)
    records[1].seq = row.next_seq
    add_records(row, records, 0)
    local questions = open_questions(id)
    for _, question in ipairs(questions) do
        close(row, question)
    end
    recount(row, questions)
    row.status, row.result, row.updated_ms, row.fence = status, reason, at_ms, row.fence + 1
    row.timer_ms, row.awaited = nil, nil
    wake(row)
    give_up_claim(row)
    store(before, row)
    commit()
end
return { 'row', fields_of(id) }
