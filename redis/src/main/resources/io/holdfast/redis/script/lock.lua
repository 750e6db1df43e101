-- What every script knows of a lock.
--
-- A lock lives in six keys, all in one slot:
--   lock        nothing: it is free
--               string 'holdfast owner life token since channel origin': held by one alone; expires with it. life is its ttl in
--               milliseconds, should another program take the expiry from the key
--               sorted set: shared, or permits. 'holdfast' -> 0 if shared, else -(permits taken); for permits 'total/owner' -> total;
--               owner -> when it expires. Expires with the last of them
--               anything else: foreign. Counts as one exclusive holder, and no script changes it
--   holders     hash: owner -> 'token since channel origin', of the holders in a sorted set. For people, for messages, and for those who
--               ask again. Decides nothing, so that a renewal needs the lock key only
--   queue       sorted set: owner -> number, or -number if it was moved aside; the number is when it came, or a bit more
--   heartbeats  sorted set: owner -> when its ticket lapses
--   tickets     hash: owner -> 'mode life channel origin', or 'forced' of one who was a holder
--   counter     string: the last token minted
-- Times are microseconds of this server's clock; ttls in arguments are milliseconds. mode is x (exclusive), s (shared) or p (permits). An owner of permits ends with
-- '/count/total'. One that begins with '~' is nobody: a released lock that lingers.
--
-- Kept true after every script:
--   1. The lock key exists if and only if the lock is held. What decides who may hold beside whom is in it alone, and goes with it.
--   2. No owner is both holder and in the queue. A ticket that becomes a holder keeps its expiry: its client reckons from the last
--      heartbeat we answered, and k dead waiters in a row cost one ttl, not k.
--   3. Tickets are let in by their numbers; the first that does not fit ends it. Moved aside, keeping their number, are only tickets whose
--      client does not listen here. They are told nothing, and are back with the next word from their client.
--   4. Tokens of a lock grow, and are at least the clock: a lost counter does not take them back.
--   5. queue, heartbeats and tickets expire with the last heartbeat, holders with the last of them, counter some days after the later of
--      its last use and its value.
--   6. No script looks at more than BATCH holders or tickets that have expired, are let in, or are moved aside, and each of these is paid
--      for once. If there may be more, 'again' says so.

local MARK = 'holdfast'
-- A foreign key is looked at often, but only by the first few of the queue.
local FIRST_FEW = 8
local FOREIGN_CHECK_MICROS = 1000000
local STAGGER_MICROS = 100000
local TOGETHER_MICROS = 200000
local BATCH = 100
local CHUNK = 16
-- Smaller scores of a lock are no times.
local FIRST_TIME = '1000000000000'

local function permits_of(owner)
    local count, total = string.match(owner, '/(%d+)/(%d+)$')
    return tonumber(count), tonumber(total)
end

local function free(lock)
    redis.call('DEL', lock.key, lock.holders)
    lock.mode, lock.owner, lock.taken = '', nil, 0
end

-- Of a shared lock, or of permits.
local function remove_holders(lock, owners)
    redis.call('ZREM', lock.key, unpack(owners))
    redis.call('HDEL', lock.holders, unpack(owners))
    if lock.mode == 'p' then
        local totals = {}
        for i, owner in ipairs(owners) do
            local count = permits_of(owner)
            lock.taken = lock.taken - count
            totals[i] = 'total/' .. owner
        end
        redis.call('ZREM', lock.key, unpack(totals))
        redis.call('ZADD', lock.key, text(-lock.taken), MARK)
    end
    local last = redis.call('ZRANGE', lock.key, '-1', '-1', 'WITHSCORES')[2]
    if tonumber(last) <= now then
        free(lock)
    else
        redis.call('PEXPIREAT', lock.key, millis(tonumber(last)))
    end
end

local function drop_expired(lock)
    local expired = redis.call('ZRANGE', lock.key, FIRST_TIME, text(now), 'BYSCORE', 'LIMIT', '0', BATCH)
    if #expired > 0 then
        lock.again = #expired == BATCH
        remove_holders(lock, expired)
    end
end

-- Reads a lock from its six KEYS, the first at index i, and drops holders that have expired.
local function open(i)
    local lock = {
        key = KEYS[i], holders = KEYS[i + 1], queue = KEYS[i + 2], heartbeats = KEYS[i + 3], tickets = KEYS[i + 4],
        counter = KEYS[i + 5], mode = '', taken = 0, granted = {}, unsaid = {}, again = false
    }
    local kind = redis.call('TYPE', lock.key)['ok']
    if kind == 'none' then
        return lock
    end
    lock.mode = 'foreign'
    if kind == 'string' then
        lock.owner, lock.life, lock.details = string.match(redis.call('GET', lock.key), '^holdfast (%S+) (%d+) (.*)$')
        lock.mode = lock.owner and 'x' or 'foreign'
    elseif kind == 'zset' then
        local mark = redis.call('ZSCORE', lock.key, MARK)
        if mark then
            lock.taken = -tonumber(mark)
            lock.mode = lock.taken > 0 and 'p' or 's'
            drop_expired(lock)
        end
    end
    return lock
end

-- 'token since channel origin' if that owner holds the lock, empty if that got lost; nil if it does not.
local function held_by(lock, owner)
    if lock.mode == 'x' then
        return lock.owner == owner and lock.details or nil
    end
    if lock.mode == 's' or lock.mode == 'p' then
        local expires = redis.call('ZSCORE', lock.key, owner)
        if expires and tonumber(expires) > now then
            return redis.call('HGET', lock.holders, owner) or ''
        end
    end
end

local function remove_holder(lock, owner)
    if lock.mode == 'x' then
        free(lock)
    else
        remove_holders(lock, { owner })
    end
end

-- Never shortens.
local function extend(lock, owner, expires)
    if lock.mode ~= 'x' then
        redis.call('ZADD', lock.key, 'XX', 'GT', text(expires), owner)
        redis.call('PEXPIREAT', lock.holders, millis(expires), 'GT')
    end
    redis.call('PEXPIREAT', lock.key, millis(expires), 'GT')
end

local function admits(lock, mode, owner)
    if lock.mode == '' then
        return true
    end
    if lock.mode == 's' then
        return mode == 's'
    end
    if lock.mode ~= 'p' or mode ~= 'p' then
        return false
    end
    local count, total = permits_of(owner)
    -- After the mark, which is negative, come the totals.
    local smallest = tonumber(redis.call('ZRANGE', lock.key, '1', '1', 'WITHSCORES')[2])
    return lock.taken + count <= math.min(smallest, total)
end

-- Adds a holder that is admitted; details are 'token since channel origin'.
local function add_holder(lock, owner, mode, expires, life, details)
    if mode == 'x' then
        redis.call('SET', lock.key, 'holdfast ' .. owner .. ' ' .. life .. ' ' .. details, 'PXAT', millis(expires))
        lock.mode, lock.owner, lock.details = 'x', owner, details
        return
    end
    local is_first = lock.mode == ''
    if is_first then
        -- Of holders whose key has expired.
        redis.call('DEL', lock.holders)
    end
    if mode == 'p' then
        local count, total = permits_of(owner)
        lock.taken = lock.taken + count
        redis.call('ZADD', lock.key, text(-lock.taken), MARK, text(total), 'total/' .. owner, text(expires), owner)
    else
        redis.call('ZADD', lock.key, '0', MARK, text(expires), owner)
    end
    redis.call('HSET', lock.holders, owner, details)
    lock.mode = mode
    for _, key in ipairs({ lock.key, lock.holders }) do
        if is_first then
            redis.call('PEXPIREAT', key, millis(expires))
        else
            redis.call('PEXPIREAT', key, millis(expires), 'GT')
        end
    end
end

local function drop_tickets(lock, owners)
    redis.call('ZREM', lock.queue, unpack(owners))
    redis.call('ZREM', lock.heartbeats, unpack(owners))
    redis.call('HDEL', lock.tickets, unpack(owners))
end

local function drop_lapsed(lock)
    local lapsed = redis.call('ZRANGE', lock.heartbeats, '-inf', text(now), 'BYSCORE', 'LIMIT', '0', BATCH)
    if #lapsed > 0 then
        lock.again = lock.again or #lapsed == BATCH
        drop_tickets(lock, lapsed)
    end
end

-- Keeps a ticket that has not lapsed, and puts it back if it was moved aside. Returns its number, nil if there is no such ticket.
local function keep_ticket(lock, owner, ttl, channel)
    local expires = redis.call('ZSCORE', lock.heartbeats, owner)
    local number = expires and tonumber(expires) > now and tonumber(redis.call('ZSCORE', lock.queue, owner) or nil)
    if not number then
        return nil
    end
    if number < 0 then
        number = -number
        redis.call('ZADD', lock.queue, text(number), owner)
    end
    if ttl > 0 then
        redis.call('ZADD', lock.heartbeats, 'GT', text(now + ttl), owner)
        keep_queue(lock.queue, lock.heartbeats, lock.tickets, ttl, false)
    end
    if string.find(channel, '@', 1, true) then
        -- In a cluster the lock may have come here from another server.
        local start, old, rest = string.match(redis.call('HGET', lock.tickets, owner) or '', '^(%a %d+ )(%S+)(.*)$')
        if old and old ~= channel then
            redis.call('HSET', lock.tickets, owner, start .. channel .. rest)
        end
    end
    return number
end

-- Whether a channel has a listener. Asked before anything is said: a PUBLISH that counts nobody may still be heard at other servers of
-- a cluster, or at replicas. Who listens at another server, since the lock was there before, cannot be seen from here and counts as
-- alive. A client without the right to ask is one that reaches nobody.
local function is_heard(channel)
    local home = string.match(channel, '@(%x+)$')
    if home and home ~= redis.call('CLUSTER', 'MYID') then
        return true
    end
    local listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)
    return not listeners.err and listeners[2] > 0
end

local function publish(channel, message)
    redis.pcall('PUBLISH', channel, message)
end

-- Lets the first ticket of the queue in if it fits. Returns whether to look at the next.
local function serve(lock, owner, number, mine)
    local expires = tonumber(redis.call('ZSCORE', lock.heartbeats, owner) or 0)
    local details = redis.call('HGET', lock.tickets, owner) or ''
    local mode, life, channel, origin = string.match(details, '^(%a) (%d+) (%S+) (.*)$')
    if expires <= now or not mode then
        drop_tickets(lock, { owner })
        return true
    end
    -- Before asking whether it fits: a dead one that does not would keep out all behind it.
    local is_mine = mine[owner] or mine[channel]
    if not is_mine and not is_heard(channel) then
        redis.call('ZADD', lock.queue, text(-number), owner)
        return true
    end
    if not admits(lock, mode, owner) then
        return false
    end
    local token = mint(lock.counter)
    drop_tickets(lock, { owner })
    add_holder(lock, owner, mode, expires, life, token .. ' ' .. clock .. ' ' .. channel .. ' ' .. origin)
    lock.granted[owner] = token
    if is_mine then
        table.insert(lock.unsaid, owner)
        table.insert(lock.unsaid, token)
    else
        publish(channel, 'granted ' .. owner .. ' ' .. token .. ' ' .. lock.key)
    end
    return lock.mode ~= 'x'
end

-- Lets in from the queue whoever fits, each with a message on its client's channel, but for those whose owner or channel is in 'mine': their
-- client asks just now, so it lives, and reads it in this script's reply. Returns whether somebody who can be reached is left in the queue.
local function advance(lock, mine)
    if lock.mode == 'x' or lock.mode == 'foreign' then
        return true
    end
    local seen, chunk = 0, 1
    while seen < BATCH do
        local first = redis.call('ZRANGE', lock.queue, '(0', '+inf', 'BYSCORE', 'LIMIT', '0', chunk, 'WITHSCORES')
        if #first == 0 then
            return false
        end
        for i = 1, #first, 2 do
            if not serve(lock, first[i], tonumber(first[i + 1]), mine) then
                return true
            end
        end
        seen = seen + chunk
        chunk = CHUNK
    end
    lock.again = true
    return true
end

-- Microseconds until a holder is gone unless it is renewed. Of several, the first: when a longer-lived one has left, nobody tells those who
-- wait that they need not wait for it. But those that go soon after each other are waited for together.
local function time_left(lock)
    if lock.again or lock.mode == '' then
        return 0
    end
    if lock.mode == 'p' or lock.mode == 's' then
        local first = redis.call('ZRANGE', lock.key, FIRST_TIME, '+inf', 'BYSCORE', 'LIMIT', '0', '1', 'WITHSCORES')[2] - now
        return first >= TOGETHER_MICROS and first or math.min(TOGETHER_MICROS, redis.call('PTTL', lock.key) * 1000)
    end
    local left = redis.call('PTTL', lock.key) * 1000
    if left >= 0 then
        return left
    end
    if lock.mode == 'x' then
        -- Another program has made it eternal.
        left = lock.life * 1000
        redis.call('PEXPIREAT', lock.key, millis(now + left))
        return left
    end
    return math.huge
end

-- What one who stays in the queue is told.
local function waiting(lock, number)
    local ahead = redis.call('ZCOUNT', lock.queue, '(0', '(' .. text(number))
    lock.left = lock.left or time_left(lock)
    lock.lapse = lock.lapse or first_lapse(lock.heartbeats)
    if lock.mode == 'foreign' and ahead < FIRST_FEW then
        -- It may be gone any moment, and nobody says so.
        return check_in(math.min(lock.left + ahead * STAGGER_MICROS, (ahead + 1) * FOREIGN_CHECK_MICROS), lock.lapse, true, number)
    end
    return check_in(lock.left, lock.lapse, ahead == 0, number)
end

-- The lock may be free sooner than those in the queue were told.
local function tell_first_few(lock)
    local left = time_left(lock)
    for i, owner in ipairs(redis.call('ZRANGE', lock.queue, '(0', '+inf', 'BYSCORE', 'LIMIT', '0', FIRST_FEW)) do
        local channel = string.match(redis.call('HGET', lock.tickets, owner) or '', '^%a %d+ (%S+)')
        if channel then
            publish(channel, 'watch ' .. owner .. ' ' .. text(left + (i - 1) * STAGGER_MICROS) .. ' ' .. lock.key)
        end
    end
end

-- A number, and 2 more if there is more to do.
local function reply(number, lock)
    return number + (lock.again and 2 or 0)
end

local function held(token)
    return 'held ' .. token
end
