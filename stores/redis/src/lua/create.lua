local again = is_repeated()
-- For a part of a loop: the execution with the loop, and its claim.
local of = given()
local fence, claim
if of ~= '' then
    fence, claim = given_number(), given()
end
local callers, now_ms = given(), given_time()
local row, fields = {}, {}
for place = 1, given_number() do
    local field, value = given(), given()
    row[field] = value
    fields[2 * place - 1], fields[2 * place] = field, value
end
local records = given_records(given_number())
local questions = given_questions(given_number())

if of ~= '' then
    local whole = load(of)
    if not whole then
        return { 'not_found' }
    end
    local refused = lost(whole, fence, claim)
    if refused then
        return refused
    end
end

-- Its place among those with an idempotency key. The lengths keep names apart.
local key = row.idempotency_key
if key then
    local owner = row.owner and #row.owner .. ':' .. row.owner or 'none'
    key = #row.flow .. ':' .. row.flow .. ' ' .. owner .. ' ' .. key
end
local existing = key and redis.call('HGET', typed('keys', 'hash'), key)
if existing and existing ~= row.id then
    return { 'existing', existing }
end
local other = load(row.id)
if other then
    if again and other.created_by_call == call then
        return { 'new' }
    end
    return existing and { 'existing', existing } or { 'id_taken' }
elseif existing then
    damage('execution ' .. existing, 'it has an idempotency key, and is missing')
end
if is_taken(questions) then
    return { 'token_taken' }
end

if row.holder then
    row.claimed_until_ms = int(claimed_until(claims_at(callers, now_ms), tonumber(row.lease_ms)))
end
checked(row)
local first_record = records[1]
if first_record then
    row.next_seq = first_record.seq
end
add_records(row, records, 0)
add_questions(row, questions)
if OVER[row.status] then
    for _, question in ipairs(questions) do
        close(row, question)
    end
end
recount(row, questions)
wake(row)
for _, field in ipairs({ 'next_seq', 'asked', 'settled', 'expires_ms', 'wake_ms', 'claimed_until_ms' }) do
    if row[field] then
        fields[#fields + 1] = field
        fields[#fields + 1] = int(row[field])
    end
end
local name = 'execution:' .. row.id
write('hash', 'HSET', name, unpack(fields))
write('hash', 'HSET', name, 'created_by_call', call)
if row.holder then
    write('hash', 'HSET', name, 'claimed_by_call', call)
end
write('zset', 'ZADD', 'ids', 0, row.id)
write('zset', 'ZADD', 'flow:' .. row.flow, 0, row.id)
if row.owner then
    write('zset', 'ZADD', 'owner:' .. row.owner, 0, row.id)
end
if key then
    write('hash', 'HSET', 'keys', key, row.id)
end
local after = places(row)
if row.not_before_ms then
    -- It comes there when it is time.
    after['queue:' .. row.flow] = nil
end
list_again(row.id, {}, after)
commit()
return { 'new' }
