-- Signals. Those that the run has not taken are a stream, whose ids are their numbers.

-- How many signals with this name an execution has.
local function count_of(id, name)
    local text = redis.call('HGET', typed('signal_names:' .. id, 'hash'), name)
    local count = text and #text < 17 and string.match(text, '^%d+$')
    if text and not count then
        damage('execution ' .. id, 'the number of its signals `' .. name .. '` is ' .. text)
    end
    return count and tonumber(count) or 0
end

local function set_count(id, name, count)
    if count > 0 then
        write('hash', 'HSET', 'signal_names:' .. id, name, int(count))
    else
        write('hash', 'HDEL', 'signal_names:' .. id, name)
    end
end

-- The names of the signals for which an execution waits.
local function awaited_by(row)
    if row.status ~= 'paused' or not row.awaited then
        return {}
    end
    local is_sound, names = pcall(cjson.decode, row.awaited)
    if not is_sound or type(names) ~= 'table' then
        damage('execution ' .. row.id, '`awaited` is ' .. row.awaited)
    end
    return names
end

-- Lets an execution resume from this time on, if it is paused.
local function resume_from(row, ms)
    if not row.timer_ms or ms < row.timer_ms then
        row.timer_ms = ms
    end
    wake(row)
end

-- Returns true if an execution has a signal for which it waits. `counts` has the names whose numbers are about to change.
local function has_awaited(row, counts)
    for _, name in ipairs(awaited_by(row)) do
        if (counts[name] or count_of(row.id, name)) > 0 then
            return true
        end
    end
    return false
end

-- The name of a signal that was not taken. `nil` if there is none with this number.
local function name_of(id, number)
    local entry = redis.call('XRANGE', typed('signals:' .. id, 'stream'), int(number), int(number))[1]
    if not entry then
        return nil
    end
    for place = 1, #entry[2], 2 do
        if entry[2][place] == 'name' then
            return entry[2][place + 1]
        end
    end
    damage('execution ' .. id .. ', signal ' .. int(number), 'it has no `name`')
end

-- How many signals of each name are left once these are taken. The second result is one of these that is not there.
local function left_without(id, taken)
    local counts, seen = {}, {}
    for _, number in ipairs(taken) do
        local name = not seen[number] and name_of(id, number)
        if not name then
            return nil, number
        end
        seen[number] = true
        counts[name] = math.max((counts[name] or count_of(id, name)) - 1, 0)
    end
    return counts
end

local function take(id, taken, counts)
    for _, number in ipairs(taken) do
        write('stream', 'XDEL', 'signals:' .. id, int(number) .. '-0')
    end
    for name, count in pairs(counts) do
        set_count(id, name, count)
    end
end
