-- What the usual cases and the rest of a script share. Little: every function here is made anew with every call.

local MARK = 'holdfast'
-- How many milliseconds a counter is kept after its last use. The last argument of every script that may mint a token.
local COUNTER_LIFE = ARGV[#ARGV]
-- When waiting tickets look whether somebody has died: the first at that moment, all others some time after it.
local OTHERS_MICROS = 400000
local SPREAD_MICROS = 40000
local SPREAD_OVER = 8

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- The same as text, for nearly every token is that.
local clock = time[1] .. string.sub('00000' .. time[2], -6)

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

-- A counter ahead of the clock is kept until the clock has passed it, and its life longer.
local function set_counter(counter, token)
    redis.call('SET', counter, text(token), 'PXAT', text(math.ceil(math.max(now, token) / 1000) + COUNTER_LIFE))
    return text(token)
end

-- Makes the counter at least that, and returns what it is then.
local function raise_counter(counter, floor)
    return set_counter(counter, math.max(token_in(redis.call('GET', counter)) or no_token(counter), floor))
end

-- The next token, as text: nearly always the clock. Who is let in together with others has the next ones.
local minted = {}
local function mint(counter)
    if minted[counter] then
        minted[counter] = minted[counter] + 1
        return set_counter(counter, minted[counter])
    end
    local last, token = redis.call('SET', counter, clock, 'PX', COUNTER_LIFE, 'GET'), clock
    if last and not (#last == #clock and last < clock and not string.find(last, '%D')) then
        -- What is no token stays: it is not ours to lose.
        redis.call('SET', counter, last)
        token = raise_counter(counter, math.max(now, (token_in(last) or no_token(counter)) + 1))
    end
    minted[counter] = tonumber(token)
    return token
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

-- Adds a ticket, whose heartbeat is there, at the end of the queue. Returns its number, which is larger than those in the queue and than
-- those moved aside, and whether it is the first that was not moved aside.
local function join_queue(queue, heartbeats, tickets, owner, ttl, details)
    local last = redis.call('ZRANGE', queue, '-1', '-1', 'WITHSCORES')[2]
    local number = math.max(now, tonumber(last or 0) + 1)
    redis.call('ZADD', queue, number == now and clock or text(number), owner)
    redis.call('HSET', tickets, owner, details)
    keep_queue(queue, heartbeats, tickets, ttl, not last)
    return number, not last or tonumber(last) < 0
end

-- When the earliest heartbeat lapses, also of those moved aside: they may be back, and ahead, before anybody is asked again.
local function first_lapse(heartbeats)
    return tonumber(redis.call('ZRANGE', heartbeats, '0', '0', 'WITHSCORES')[2] or math.huge)
end

-- What a waiting ticket is told: after how many microseconds it has to look whether somebody has died. That is a holder, or one who waits:
-- such a one may become holder before we are asked again, and keeps the expiry its heartbeat has now, or a later one.
local function check_in(holder_left, lapse, is_first, number)
    local left = math.max(math.min(holder_left, lapse - now), 0)
    return 'waiting ' .. text(is_first and left or left + OTHERS_MICROS + number % SPREAD_OVER * SPREAD_MICROS)
end
