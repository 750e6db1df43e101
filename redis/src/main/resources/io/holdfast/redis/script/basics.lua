-- What the usual cases and the rest of a script share. Little: every function here is made anew with every call.

local MARK = 'holdfast'
-- How long a counter is kept after its last use. The last argument of every script that may mint a token.
local COUNTER_LIFE_MILLIS = tonumber(ARGV[#ARGV])
-- When waiting tickets look whether somebody has died: the first at that moment, each of the next few a bit later, all others some time
-- after these.
local FIRST_FEW = 8
local STAGGER_MICROS = 100000
local OTHERS_MICROS = 400000
local SPREAD_MICROS = 40000

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

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

-- Somebody else has written it: to be said, and explained by Failures.java, not guessed around.
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

-- Makes a key live at least until then. One without an expiry counts as eternal for GT.
local function live_until(key, at)
    if redis.call('PEXPIREAT', key, at, 'GT') == 0 and redis.call('PTTL', key) == -1 then
        redis.call('PEXPIREAT', key, at)
    end
end

-- The keys of the queue live at least as long as a ticket. Rounded up by up to an eighth of its ttl, so that of many tickets only a few
-- move it. The keys of heartbeats and tickets never live shorter than that of the queue.
local function keep_queue(queue, heartbeats, tickets, ttl, is_new)
    local part = ttl / 8
    local at = millis(math.ceil((now + ttl) / part) * part)
    if is_new then
        live_until(queue, at)
        live_until(heartbeats, at)
        live_until(tickets, at)
    elseif redis.call('PEXPIREAT', queue, at, 'GT') == 1 then
        redis.call('PEXPIREAT', heartbeats, at, 'GT')
        redis.call('PEXPIREAT', tickets, at, 'GT')
    end
end

-- Adds a ticket at the end of the queue and returns its number: larger than those in the queue, and than those moved aside.
local function join_queue(queue, heartbeats, tickets, owner, ttl, details)
    local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
    local number = math.max(now, tonumber(last or 0) + 1)
    redis.call('ZADD', queue, text(number), owner)
    redis.call('ZADD', heartbeats, text(now + ttl), owner)
    redis.call('HSET', tickets, owner, details)
    keep_queue(queue, heartbeats, tickets, ttl, not last)
    return number
end

-- When the earliest heartbeat of the queue lapses.
local function first_lapse(heartbeats)
    return tonumber(redis.call('ZRANGE', heartbeats, 0, 0, 'WITHSCORES')[2] or math.huge)
end

-- What a waiting ticket is told: after how many microseconds it has to look whether somebody has died. That is a holder, or one ahead of
-- it in the queue: such a one may become holder before we are asked again, and keeps the expiry its heartbeat has now, or a later one.
local function check_in(holder_left, lapse, ahead, number)
    local left = ahead > 0 and math.min(holder_left, lapse - now) or holder_left
    if left == math.huge then
        return { 'waiting' }
    end
    local later = ahead < FIRST_FEW and ahead * STAGGER_MICROS or OTHERS_MICROS + number % FIRST_FEW * SPREAD_MICROS
    return { 'waiting', text(math.max(left, 0) + later) }
end
