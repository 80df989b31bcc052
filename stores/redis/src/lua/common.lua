-- The beginning of every script. `KEYS[1]` is the key of the version: all others begin with the same.
-- A script that fails keeps what it has written before. So writes are only noted at first, and done at the end, when
-- everything that they need has been checked.

local prefix = string.sub(KEYS[1], 1, -8)
local argument = 0

local function given()
    argument = argument + 1
    return ARGV[argument]
end

local function given_number()
    return tonumber(given())
end

-- A text that can be absent has a `=` before it.
local function given_optional()
    local text = given()
    if text == '' then
        return nil
    end
    return string.sub(text, 2)
end

-- A number that can be absent.
local function given_time()
    return tonumber(given())
end

local function int(number)
    return string.format('%.0f', number)
end

local function printable(text)
    return (string.gsub(string.sub(text, 1, 120), '[^%w%p ]', '?'))
end

local function damage(place, reason)
    error('FLOW-DAMAGED\31' .. printable(place) .. '\31' .. printable(reason) .. '\31', 0)
end

-- The place and the reason of damage. Any other error goes on.
local function damage_in(failure)
    local place, reason
    if type(failure) == 'string' then
        place, reason = string.match(failure, 'FLOW%-DAMAGED\31(.-)\31(.-)\31')
    end
    if not place then
        error(failure, 0)
    end
    return place, reason
end

-- The key with this name, which has to be of this type.
local function typed(name, kind)
    local key = prefix .. name
    local found = redis.call('TYPE', key).ok
    if found ~= kind and found ~= 'none' then
        damage('the key `' .. key .. '`', 'it is a ' .. found .. ', and has to be a ' .. kind)
    end
    return key
end

local writes, kinds = {}, {}

local function write(kind, command, name, ...)
    kinds[name] = kind
    writes[#writes + 1] = { command, prefix .. name, ... }
end

local function commit()
    for name, kind in pairs(kinds) do
        typed(name, kind)
    end
    for _, arguments in ipairs(writes) do
        redis.call(unpack(arguments))
    end
end

-- Notes which call this is. Returns true if it is repeated, because its answer was lost. If the repetition has
-- overtaken it, the call itself does nothing any more.
local call

local function is_repeated()
    call = given()
    local again = given() == '1'
    local key = prefix .. 'call:' .. call
    if again then
        redis.call('SET', key, '1', 'PX', 3600000)
    elseif redis.call('EXISTS', key) == 1 then
        error('this call was repeated before it came', 0)
    end
    return again
end
