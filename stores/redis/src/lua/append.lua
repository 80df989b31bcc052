local again = is_repeated()
local id, fence, claim = given(), given_number(), given()
local now_ms, status, result, structure = given_number(), given(), given_optional(), given_optional()
local timer_ms, release, prune_before = given_time(), given() == '1', given_time()
local snapshot = given_time()
local records = given_records(given_number())
local opened = given_questions(given_number())
local closed = {}
for place = 1, given_number() do
    closed[place] = given()
end
local taken, awaited = {}, {}
for place = 1, given_number() do
    taken[place] = given_number()
end
for place = 1, given_number() do
    awaited[place] = given()
end

local row = load(id)
if not row then
    return { 'not_found' }
end
-- The second part says if one that is queued may begin, since this one is over and has a concurrency key, or if this one
-- may resume, since it has a signal for which it pauses.
local function done(is_over, resumes)
    return { 'ok', (resumes or is_over and row.concurrency_key) and 'work' or '' }
end
if again and row.written_by_call == call then
    return done(OVER[row.status])
end
local refused = lost(row, fence, claim)
if refused then
    return refused
end
local first = records[1]
if first and first.seq ~= row.next_seq then
    return { 'gap', int(row.next_seq) }
end
if is_taken(opened) then
    return { 'token_taken' }
end
local is_new = {}
for _, question in ipairs(opened) do
    is_new[question.token] = true
end
for _, token in ipairs(closed) do
    local question = not is_new[token] and question_of(token)
    if not is_new[token] and (not question or question.execution ~= id) then
        return { 'unknown_token', token }
    end
end
if prune_before then
    local is_snapshot = false
    for _, record in ipairs(records) do
        is_snapshot = is_snapshot or record.seq == prune_before and record.kind == 'snapshot'
    end
    local stored = redis.call('XRANGE', typed('records:' .. id, 'stream'), int(prune_before), int(prune_before))[1]
    if stored then
        for place = 1, #stored[2], 2 do
            is_snapshot = is_snapshot or stored[2][place] == 'kind' and stored[2][place + 1] == 'snapshot'
        end
    end
    if not is_snapshot then
        return { 'not_a_snapshot' }
    end
end
local counts, missing = left_without(id, taken)
if missing then
    return { 'not_a_signal', int(missing) }
end

local before = copy_of(row)
add_records(row, records, prune_before or 0)
if prune_before then
    prune(row, prune_before)
end
local is_over = OVER[status]
if is_over or #opened > 0 or #closed > 0 then
    local questions = open_questions(id)
    for _, question in ipairs(opened) do
        questions[#questions + 1] = question
    end
    add_questions(row, opened)
    local is_closed = {}
    for _, token in ipairs(closed) do
        is_closed[token] = true
    end
    for _, question in ipairs(questions) do
        if is_over or is_closed[question.token] then
            close(row, question)
        end
    end
    recount(row, questions)
end
row.updated_ms, row.result, row.structure, row.snapshot_seq = now_ms, result, structure, snapshot
if status ~= '' then
    row.status = status
end
row.timer_ms = timer_ms
if is_over then
    row.timer_ms = nil
end
wake(row)
take(id, taken, counts)
if row.status ~= 'paused' then
    row.awaited = nil
elseif status ~= '' or #awaited > 0 then
    row.awaited = #awaited > 0 and cjson.encode(awaited) or nil
end
local resumes = has_awaited(row, counts)
if resumes then
    resume_from(row, now_ms)
end
if is_over or release then
    give_up_claim(row)
end
row.written_by_call = call
store(before, row)
commit()
return done(is_over, resumes)
