local again = is_repeated()
local token, state, answer, now_ms = given(), given(), given_optional(), given_number()
local question = question_of(token)
if not question then
    return { 'unknown_token' }
end
local name = 'question:' .. token
local fields = redis.call('HGETALL', prefix .. name)
if question.state ~= 'open' then
    -- The answer to this call was lost, and it is made again.
    local is_mine = again and question.settled_by_call == call
    return { is_mine and 'settled' or 'question', fields }
end
local row = load(question.execution)
if not row then
    damage('a question of execution ' .. question.execution, 'the execution is missing')
end
local before = copy_of(row)
write('hash', 'HSET', name, 'state', state, 'settled_by_call', call)
if answer then
    write('hash', 'HSET', name, 'answer', answer)
end
local questions = open_questions(row.id)
for _, other in ipairs(questions) do
    if other.token == token then
        other.state = state
    end
end
recount(row, questions)
wake(row)
row.updated_ms = now_ms
store(before, row)
commit()
return { 'settled', fields }
