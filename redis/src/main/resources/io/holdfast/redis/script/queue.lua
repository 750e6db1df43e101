-- The queue of a lock: joining it, keeping it, and what those who wait are told.

-- When waiting tickets look whether somebody has died: the first at that moment, all others some time after it.
local OTHERS_MICROS = 400000
local SPREAD_MICROS = 40000
local SPREAD_OVER = 8

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
