-- Executions: what the scripts need of them, and where they are listed.

local STATUSES = { queued = true, running = true, paused = true, completed = true, failed = true, cancelled = true }
local OVER = { completed = true, failed = true, cancelled = true }
local UNDER_WAY = { running = true, paused = true }

local FIELDS = { 'status', 'flow', 'fence', 'next_seq', 'updated_ms', 'settled', 'asked', 'priority', 'holder',
    'claimed_until_ms', 'lease_ms', 'timer_ms', 'expires_ms', 'wake_ms', 'not_before_ms', 'concurrency_key',
    'concurrency_limit', 'claimed_by_call', 'written_by_call', 'created_by_call', 'halted', 'take_overs',
    'taken_over_at', 'signals', 'awaited', 'cancelled_ms' }
local NUMBERS = { 'fence', 'next_seq', 'updated_ms', 'settled', 'asked', 'priority' }
local OPTIONAL_NUMBERS = { 'claimed_until_ms', 'lease_ms', 'timer_ms', 'expires_ms', 'wake_ms', 'not_before_ms',
    'concurrency_limit', 'take_overs', 'taken_over_at', 'signals', 'cancelled_ms' }
local OTHERS = { 'id', 'structure', 'input_hash', 'options', 'format', 'created_ms', 'snapshot_seq', 'copied_from' }

local function number(row, field)
    local text = row[field]
    local digits = #text < 17 and (string.match(text, '^%d+$') or field == 'priority' and string.match(text, '^%-%d+$'))
    if not digits then
        damage('execution ' .. row.id, '`' .. field .. '` is ' .. text)
    end
    return tonumber(digits)
end

-- Checks what the scripts read of an execution, and makes numbers of texts.
local function checked(row)
    local place = 'execution ' .. row.id
    for _, field in ipairs(NUMBERS) do
        if not row[field] then
            damage(place, 'it has no `' .. field .. '`')
        end
        row[field] = number(row, field)
    end
    for _, field in ipairs(OPTIONAL_NUMBERS) do
        if row[field] then
            row[field] = number(row, field)
        end
    end
    if not STATUSES[row.status] then
        damage(place, 'the name `' .. (row.status or '') .. '` is not known')
    end
    if not row.flow then
        damage(place, 'it has no `flow`')
    end
    local is_held = row.holder ~= nil
    if (row.claimed_until_ms ~= nil) ~= is_held or (row.lease_ms ~= nil) ~= is_held then
        damage(place, 'a part of its claim is missing')
    end
    if (row.concurrency_key ~= nil) ~= (row.concurrency_limit ~= nil) then
        damage(place, 'it has one of `concurrency_key` and `concurrency_limit`, without the other')
    end
    return row
end

-- What the scripts need of an execution. `nil` if there is none.
local function load(id)
    local key = typed('execution:' .. id, 'hash')
    local values = redis.call('HMGET', key, unpack(FIELDS))
    local row, found = { id = id }, false
    for place, field in ipairs(FIELDS) do
        if values[place] then
            row[field] = values[place]
            found = true
        end
    end
    if not found and redis.call('EXISTS', key) == 0 then
        return nil
    end
    return checked(row)
end

-- The answer to whoever writes with a claim to an execution that has another one, or none.
local function lost(row, fence, claim)
    -- A server that has lost its last writes can give the same fence twice.
    local is_another = claim ~= '' and row.claimed_by_call ~= claim
    if row.fence ~= fence or not row.holder or OVER[row.status] or is_another then
        return { 'lease_lost' }
    end
end

-- The same, if all else is there too.
local function load_whole(id)
    local row = load(id)
    if row then
        local values, others = redis.call('HMGET', prefix .. 'execution:' .. id, unpack(OTHERS)), { id = id }
        for place, field in ipairs(OTHERS) do
            others[field] = values[place] or nil
            if not values[place] and field ~= 'snapshot_seq' and field ~= 'copied_from' then
                damage('execution ' .. id, 'it has no `' .. field .. '`')
            end
        end
        for _, field in ipairs({ 'format', 'created_ms', 'snapshot_seq' }) do
            if others[field] then
                number(others, field)
            end
        end
        if others.id ~= id then
            damage('execution ' .. id, 'its `id` is ' .. others.id)
        end
        if others.copied_from and not string.match(others.copied_from, '^%x+%-%x+%-%x+%-%x+%-%x+$') then
            damage('execution ' .. id, '`copied_from` is ' .. others.copied_from)
        end
    end
    return row
end

local function fields_of(id)
    return redis.call('HGETALL', prefix .. 'execution:' .. id)
end

local function copy_of(row)
    local copy = {}
    for field, value in pairs(row) do
        copy[field] = value
    end
    return copy
end

-- The time from which it can continue if nobody had claimed it.
local function ready_ms(row)
    if row.halted then
        return nil
    elseif row.status == 'running' or row.status == 'paused' and row.settled > 0 then
        return 0
    elseif row.status == 'paused' then
        return row.wake_ms
    end
    return nil
end

-- The sorted sets in which an execution is, with its scores.
local function places(row)
    local found = { ['status:' .. row.status] = 0 }
    local due = ready_ms(row)
    if row.holder then
        if due and row.claimed_until_ms > due then
            due = row.claimed_until_ms
        end
        found['held:' .. row.holder] = 0
        -- When it was claimed, which is in the future if the clock of the holder is ahead.
        found['claims'] = row.claimed_until_ms - row.lease_ms
    end
    if due then
        found['due'] = due
    end
    if row.halted and not OVER[row.status] then
        found['halted'] = 0
    end
    if row.cancelled_ms and not OVER[row.status] then
        found['cancelling'] = 0
    end
    if row.status == 'queued' then
        found['queue:' .. row.flow] = -row.priority
        if row.not_before_ms then
            found['later:' .. row.flow] = row.not_before_ms
        end
    end
    if row.concurrency_key and UNDER_WAY[row.status] then
        found['under_way:' .. row.concurrency_key] = 0
    end
    return found
end

local function list_again(id, before, after)
    for name, score in pairs(after) do
        if before[name] ~= score then
            write('zset', 'ZADD', name, int(score), id)
        end
    end
    for name in pairs(before) do
        if after[name] == nil then
            write('zset', 'ZREM', name, id)
        end
    end
end

local CHANGING = { 'status', 'fence', 'next_seq', 'updated_ms', 'settled', 'asked', 'holder', 'claimed_until_ms',
    'lease_ms', 'timer_ms', 'expires_ms', 'wake_ms', 'snapshot_seq', 'result', 'structure', 'claimed_by_call',
    'written_by_call', 'halted', 'take_overs', 'taken_over_at', 'options', 'signals', 'awaited',
    'cancelled_ms' }

-- Stores an execution as it is now.
local function store(before, row)
    local set, removed = {}, {}
    for _, field in ipairs(CHANGING) do
        local value = row[field]
        if value ~= before[field] then
            if value == nil then
                removed[#removed + 1] = field
            else
                set[#set + 1] = field
                set[#set + 1] = type(value) == 'number' and int(value) or value
            end
        end
    end
    local name = 'execution:' .. row.id
    if #set > 0 then
        write('hash', 'HSET', name, unpack(set))
    end
    if #removed > 0 then
        write('hash', 'HDEL', name, unpack(removed))
    end
    list_again(row.id, places(before), places(row))
end

local function give_up_claim(row)
    row.holder, row.claimed_until_ms, row.lease_ms = nil, nil, nil
end

-- The time by which claims are judged: that of the server, since the clocks of callers differ. With `callers`, the time
-- that is given.
local function claims_at(callers, now_ms)
    if callers == '1' then
        return now_ms
    end
    local time = redis.call('TIME')
    return 1000 * tonumber(time[1]) + math.floor(tonumber(time[2]) / 1000)
end

-- Until when a claim is valid: a number of which Lua knows every one.
local function claimed_until(at, lease_ms)
    return math.min(at + lease_ms, 9007199254740991)
end

local function is_free(row, at)
    return not row.holder or row.claimed_until_ms <= at
end

local function is_claimed_by(row, holder)
    return row.holder == holder and row.claimed_by_call == call
end

local function claim_for(row, holder, at, lease_ms)
    row.fence = row.fence + 1
    row.holder, row.claimed_until_ms, row.lease_ms = holder, claimed_until(at, lease_ms), lease_ms
    row.claimed_by_call = call
end
