local again = is_repeated()
local limit, holder, callers = given_number(), given(), given()
local now_ms, lease_ms = given_number(), given_number()
local at = claims_at(callers, now_ms)

if again then
    local mine = {}
    for _, id in ipairs(redis.call('ZRANGE', typed('held:' .. holder, 'zset'), 0, -1)) do
        local is_sound, row = pcall(load, id)
        if not is_sound then
            damage_in(row)
        elseif row and is_claimed_by(row, holder) then
            mine[#mine + 1] = row
        end
    end
    if #mine > 0 then
        table.sort(mine, function(one, other)
            if one.priority ~= other.priority then
                return one.priority > other.priority
            end
            return one.id < other.id
        end)
        for place, row in ipairs(mine) do
            mine[place] = { 'row', fields_of(row.id) }
        end
        return mine
    end
end

-- Those whose time has come move to the queue.
local function move_to_queue(flow)
    local later, queue = typed('later:' .. flow, 'zset'), typed('queue:' .. flow, 'zset')
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', later, '-inf', int(now_ms), 'LIMIT', 0, 1000)) do
        local priority = redis.call('HGET', typed('execution:' .. id, 'hash'), 'priority') or '0'
        redis.call('ZADD', queue, int(-(tonumber(priority) or 0)), id)
        redis.call('ZREM', later, id)
    end
end

-- The queues of the flows that have places.
local queues = {}
for _ = 1, given_number() do
    local flow, left = given(), given_number()
    if left > 0 and limit > 0 then
        move_to_queue(flow)
        queues[#queues + 1] = { key = typed('queue:' .. flow, 'zset'), left = left, from = 0, page = {}, next = 1 }
    end
end

-- The first of a queue that was not looked at yet, with its score. `nil` at the end.
local function head_of(queue)
    if queue.next > #queue.page then
        queue.page = redis.call('ZRANGE', queue.key, queue.from, queue.from + 99, 'WITHSCORES')
        queue.from, queue.next = queue.from + 100, 1
        if #queue.page == 0 then
            queue.left = 0
        end
    end
    return queue.page[queue.next], tonumber(queue.page[queue.next + 1])
end

local function next_of_all()
    local best, best_id, best_score
    for _, queue in ipairs(queues) do
        local id, score = nil, nil
        if queue.left > 0 then
            id, score = head_of(queue)
        end
        if id and (not best or score < best_score or score == best_score and id < best_id) then
            best, best_id, best_score = queue, id, score
        end
    end
    if best then
        best.next = best.next + 2
    end
    return best, best_id
end

-- How many with this key are under way, with those that are taken now.
local under_way = {}

local function has_room(row)
    local key = row.concurrency_key
    if not key then
        return true
    end
    under_way[key] = under_way[key] or redis.call('ZCARD', typed('under_way:' .. key, 'zset'))
    return under_way[key] < row.concurrency_limit
end

local taken, count = {}, 0
while count < limit do
    local queue, id = next_of_all()
    if not queue then
        break
    end
    local is_sound, row = pcall(load_whole, id)
    if not is_sound then
        taken[#taken + 1] = { 'damaged', id, damage_in(row) }
    elseif not row or row.status ~= 'queued' then
        taken[#taken + 1] = { 'damaged', id, 'the queue', 'execution ' .. id .. ' does not wait there' }
    elseif is_free(row, at) and (not row.not_before_ms or row.not_before_ms <= now_ms) and has_room(row) then
        local before = copy_of(row)
        row.status, row.updated_ms = 'running', now_ms
        claim_for(row, holder, at, lease_ms)
        store(before, row)
        if row.concurrency_key then
            under_way[row.concurrency_key] = under_way[row.concurrency_key] + 1
        end
        queue.left, count = queue.left - 1, count + 1
        taken[#taken + 1] = { 'row', id }
    end
end
commit()
for _, entry in ipairs(taken) do
    if entry[1] == 'row' then
        entry[2] = fields_of(entry[2])
    end
end
return taken
