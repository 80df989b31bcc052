-- Records and questions.

local CLOSED = { open = 'withdrawn', answered = 'used', timed_out = 'expired' }
local STATES = { open = true, answered = true, timed_out = true, used = true, expired = true, withdrawn = true }

-- The records that the caller gives.
local function given_records(count)
    local records = {}
    for place = 1, count do
        records[place] = { seq = given_number(), at_ms = given(), kind = given(), path = given(), step = given(),
            visit = given(), item = given(), attempt = given(), payload = given() }
    end
    return records
end

-- The numbers in the id of a record: its own, and its offset in the log.
local function numbers_of(id)
    local seq, offset = string.match(id, '^(%d+)%-(%d+)$')
    return tonumber(seq), tonumber(offset)
end

-- Adds records to an execution. Those before `first_kept` take an offset, and are not stored.
-- The first write is the only one that the server can refuse because of what it has stored.
local function add_records(row, records, first_kept)
    if #records == 0 then
        return
    end
    local name = 'records:' .. row.id
    local last = redis.call('XREVRANGE', typed(name, 'stream'), '+', '-', 'COUNT', 1)[1]
    if last then
        local seq = numbers_of(last[1])
        if seq + 1 ~= row.next_seq then
            damage('execution ' .. row.id, 'its last record is ' .. int(seq) .. ', and its next one is to be '
                .. int(row.next_seq))
        end
    end
    local text = redis.call('GET', typed('offset', 'string')) or '0'
    local offset = #text < 17 and string.match(text, '^%d+$')
    if not offset then
        damage('the key `' .. prefix .. 'offset`', 'it is ' .. text)
    end
    for _, record in ipairs(records) do
        offset = offset + 1
        if record.seq >= first_kept then
            write('stream', 'XADD', 'log', int(offset) .. '-0', 'execution', row.id, 'seq', int(record.seq))
            write('stream', 'XADD', name, int(record.seq) .. '-' .. int(offset), 'at_ms', record.at_ms,
                'kind', record.kind, 'path', record.path, 'step', record.step, 'visit', record.visit,
                'item', record.item, 'attempt', record.attempt, 'payload', record.payload)
        end
    end
    write('string', 'SET', 'offset', int(offset))
    row.next_seq = records[#records].seq + 1
end

-- Removes the records before this one.
local function prune(row, seq)
    local name = 'records:' .. row.id
    if seq == 0 then
        return
    end
    for _, entry in ipairs(redis.call('XRANGE', prefix .. name, '-', int(seq - 1))) do
        local _, offset = numbers_of(entry[1])
        write('stream', 'XDEL', 'log', int(offset) .. '-0')
    end
    write('stream', 'XTRIM', name, 'MINID', int(seq))
end

-- What the scripts need of a question. `nil` if there is none.
local function question_of(token)
    local key = typed('question:' .. token, 'hash')
    local values = redis.call('HMGET', key, 'execution', 'state', 'expires_ms', 'settled_by_call')
    local execution, state, expires_ms = values[1], values[2], values[3]
    if not execution and not state and redis.call('EXISTS', key) == 0 then
        return nil
    end
    if not execution or not STATES[state or ''] then
        damage('a question of execution ' .. (execution or '?'), 'the state `' .. (state or '') .. '` is not known')
    end
    if expires_ms and not tonumber(expires_ms) then
        damage('a question of execution ' .. execution, '`expires_ms` is ' .. expires_ms)
    end
    return { token = token, execution = execution, state = state, expires_ms = expires_ms and tonumber(expires_ms),
        settled_by_call = values[4] }
end

-- The questions of an execution that are not closed, in the order asked.
local function open_questions(id)
    local questions = {}
    for place, token in ipairs(redis.call('ZRANGE', typed('open:' .. id, 'zset'), 0, -1)) do
        local question = question_of(token)
        if not question then
            damage('execution ' .. id, 'one of its questions is missing')
        end
        questions[place] = question
    end
    return questions
end

-- The questions that the caller gives.
local function given_questions(count)
    local questions = {}
    for place = 1, count do
        questions[place] = { token = given(), path = given(), step = given(), prompt = given(), expected = given(),
            schema = given_optional(), created_ms = given(), expires_ms = given_time(), state = given(),
            answer = given_optional() }
    end
    return questions
end

-- Returns true if a question has one of these tokens already.
local function is_taken(questions)
    local seen = {}
    for _, question in ipairs(questions) do
        if seen[question.token] or redis.call('EXISTS', prefix .. 'question:' .. question.token) == 1 then
            return true
        end
        seen[question.token] = true
    end
    return false
end

local function add_questions(row, questions)
    for _, question in ipairs(questions) do
        local fields = { 'execution', row.id, 'path', question.path, 'step', question.step, 'prompt', question.prompt,
            'expected', question.expected, 'created_ms', question.created_ms, 'state', question.state }
        for _, field in ipairs({ 'schema', 'answer', 'expires_ms' }) do
            local value = question[field]
            if value then
                fields[#fields + 1] = field
                fields[#fields + 1] = type(value) == 'number' and int(value) or value
            end
        end
        row.asked = row.asked + 1
        write('hash', 'HSET', 'question:' .. question.token, unpack(fields))
        write('set', 'SADD', 'asked:' .. row.id, question.token)
        if CLOSED[question.state] then
            write('zset', 'ZADD', 'open:' .. row.id, int(row.asked), question.token)
        end
    end
end

local function close(row, question)
    local state = CLOSED[question.state]
    if not state then
        return
    end
    question.state = state
    write('hash', 'HSET', 'question:' .. question.token, 'state', state)
    write('hash', 'HDEL', 'question:' .. question.token, 'answer')
    write('zset', 'ZREM', 'open:' .. row.id, question.token)
end

-- What follows from the questions of an execution.
local function recount(row, questions)
    row.expires_ms, row.settled = nil, 0
    for _, question in ipairs(questions) do
        local expires_ms = question.expires_ms
        if question.state == 'open' and expires_ms and (not row.expires_ms or expires_ms < row.expires_ms) then
            row.expires_ms = expires_ms
        elseif question.state == 'answered' or question.state == 'timed_out' then
            row.settled = row.settled + 1
        end
    end
end

local function wake(row)
    row.wake_ms = row.expires_ms
    if row.timer_ms and (not row.wake_ms or row.timer_ms < row.wake_ms) then
        row.wake_ms = row.timer_ms
    end
end
