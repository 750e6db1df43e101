-- What the usual cases and the rest of a script share. Little: every function here is made anew with every call.

local MARK = 'holdfast'
-- As in take-free.lua.
local COUNTER_LIFE_MILLIS = 7 * 24 * 3600 * 1000
-- How many in line watch the holder's deadline, and by how much later than the one before.
local WATCHERS = 8
local WATCHER_STAGGER_MICROS = 100000
-- After what part of a ttl the next heartbeat has come, at the latest.
local HEARTBEAT = 0.4

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

-- Numbers of 16 digits: tostring() would write 1.8e+15.
local function text(number)
    return string.format('%.0f', number)
end

local function millis(micros)
    return text(math.ceil(micros / 1000))
end

-- The token that a counter's value is: 0 without a value, nil if it is no whole number that a double can hold.
local function token_in(value)
    if not value then
        return 0
    end
    local token = string.find(value, '^%d+$') and tonumber(value)
    return token and token < 2 ^ 53 and token or nil
end

-- Somebody else has written it: to be said, and explained by Courier.java, not guessed around.
local function no_token(counter)
    error('HOLDFAST NOTOKEN ' .. counter, 0)
end

-- Sets the counter and returns what it was. What is no token is put back, for good: it is not ours to lose.
local function keep_counter(counter, token)
    local life = math.ceil(math.max(now, token) / 1000) + COUNTER_LIFE_MILLIS
    local value = redis.call('SET', counter, text(token), 'PXAT', text(life), 'GET')
    local last = token_in(value)
    if not last then
        redis.call('SET', counter, value)
        no_token(counter)
    end
    return last
end

-- The next token: nearly always the clock.
local function mint(counter)
    local last = keep_counter(counter, now)
    if last < now then
        return now
    end
    keep_counter(counter, last + 1)
    return last + 1
end

-- In a cluster, where channels are given with an open end ('…@'), each server has one of its own for a client.
local function channel_here(channel)
    return string.sub(channel, -1) == '@' and channel .. redis.call('CLUSTER', 'MYID') or channel
end

-- The owner who has a lock alone, and its packed holder; nil if there is none, there are several, or the key is not ours.
local function only_holder(key)
    local flat = redis.pcall('HGETALL', key)
    if #flat ~= 4 then
        return nil
    end
    if flat[1] == MARK then
        return flat[3], flat[4]
    end
    if flat[3] == MARK then
        return flat[1], flat[2]
    end
end

-- Makes a key live at least until then. One without an expiry counts as eternal for GT.
local function keep(key, expires)
    if redis.call('PEXPIREAT', key, millis(expires), 'GT') == 0 and redis.call('PTTL', key) == -1 then
        redis.call('PEXPIREAT', key, millis(expires))
    end
end

local function keep_ticket(queue, tickets, owner, expires, demand)
    redis.call('HSET', tickets, owner, text(expires) .. ' ' .. demand)
    keep(queue, expires)
    keep(tickets, expires)
end

local function take_last_place(queue, owner)
    local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', queue, text(tonumber(last or '0') + 1), owner)
end
