-- What every script knows of a lock. The loader puts basics.lua and this text below the first line of each script, so their names are
-- there in all of them.
--
-- A lock lives in four keys, all in one slot:
--   lock      hash: 'holdfast' -> '1', and per holder  owner -> 'expires token mode count total ttl since channel origin'
--   queue     sorted set: owner -> place in line
--   tickets   hash: owner -> 'expires mode count total ttl since channel origin'
--   counter   string: the last token minted
-- Times are microseconds of this server's clock. mode is x (exclusive), s (shared) or p (permits: count of total).
-- An owner that begins with '~' is nobody: a released lock that lingers.
--
-- Kept true after every script:
--   1. The lock key exists if and only if the lock is held, and expires with its last holder. A lock key without the mark
--      is foreign: it counts as one exclusive holder, and no script changes it.
--   2. No owner is both holder and ticket. A ticket that becomes a holder keeps its expiry: its client reckons from the
--      last heartbeat we answered, and k dead waiters in a row cost one ttl, not k.
--   3. Who holds beside whom follows from one walk: all live holders, then the tickets in line; the first that does not
--      fit ends it. Passed over, keeping their place, are only tickets whose client does not listen here. They are told nothing.
--   4. Tokens of a lock grow, and are at least the clock: a lost counter does not take them back.
--   5. queue and tickets expire with the last heartbeat, counter a week after the later of its last use and its value.

local FOREIGN_CHECK_MICROS = 1000000
local CHUNK = 16

local HOLDER = '^(%d+) (%d+) (%a) (%d+) (%d+) (%d+) (%d+) (%S+) (.*)$'
local EXPIRY_TTL_CHANNEL = '^(%d+) %a %d+ %d+ (%d+) %d+ (%S+)'
local TICKET = '^(%d+) (%a) (%d+) (%d+) (%d+) (%d+) (%S+) (.*)$'

local function read_holder(packed)
    local expires, token, mode, count, total, ttl, since, channel, origin = string.match(packed, HOLDER)
    return {
        expires = tonumber(expires), token = tonumber(token), mode = mode, count = tonumber(count),
        total = tonumber(total), ttl = tonumber(ttl), since = since, channel = channel, origin = origin
    }
end

local function read_ticket(packed)
    local expires, mode, count, total, ttl, since, channel, origin = string.match(packed, TICKET)
    return {
        expires = tonumber(expires), mode = mode, count = tonumber(count), total = tonumber(total),
        ttl = tonumber(ttl), since = since, channel = channel, origin = origin
    }
end

local function write_holder(lock, owner, holder)
    lock.holders[owner] = holder
    lock.changed = true
    local packed = table.concat({
        text(holder.expires), text(holder.token), holder.mode, text(holder.count), text(holder.total), text(holder.ttl),
        holder.since, holder.channel, holder.origin
    }, ' ')
    redis.call('HSET', lock.key, MARK, '1', owner, packed)
end

local function remove_holder(lock, owner)
    lock.holders[owner] = nil
    lock.changed = true
    redis.call('HDEL', lock.key, owner)
end

local function write_ticket(lock, owner, ticket)
    keep_ticket(lock.queue, lock.tickets, owner, ticket.expires, table.concat({
        ticket.mode, text(ticket.count), text(ticket.total), text(ticket.ttl), ticket.since, ticket.channel, ticket.origin
    }, ' '))
end

local function remove_ticket(lock, owner)
    redis.call('ZREM', lock.queue, owner)
    redis.call('HDEL', lock.tickets, owner)
end

-- The ticket of an owner who is in line, if its heartbeat has not lapsed.
local function ticket_in_line(lock, owner)
    local packed = redis.call('HGET', lock.tickets, owner)
    local ticket = packed and read_ticket(packed)
    return ticket and ticket.expires > now and ticket or nil
end

-- The ticket of an owner, if it is in line and its heartbeat has not lapsed.
local function live_ticket(lock, owner)
    local ticket = ticket_in_line(lock, owner)
    return ticket and redis.call('ZSCORE', lock.queue, owner) and ticket or nil
end

-- Reads a lock from its four KEYS, the first at index i, and drops holders that have expired.
local function open(i)
    local lock = {
        key = KEYS[i], queue = KEYS[i + 1], tickets = KEYS[i + 2], counter = KEYS[i + 3],
        holders = {}, foreign = false, changed = false, freed = false
    }
    local flat = redis.pcall('HGETALL', lock.key)
    if #flat == 0 and not flat.err then
        return lock
    end
    if flat.err and not string.find(flat.err, 'WRONGTYPE', 1, true) then
        return redis.call('HGETALL', lock.key)
    end
    lock.foreign = true
    for f = 1, #flat, 2 do
        if flat[f] == MARK then
            lock.foreign = false
        end
    end
    if lock.foreign then
        return lock
    end
    for f = 1, #flat, 2 do
        local owner = flat[f]
        if owner ~= MARK then
            local holder = read_holder(flat[f + 1])
            if holder.expires > now then
                lock.holders[owner] = holder
            else
                remove_holder(lock, owner)
                lock.freed = true
            end
        end
    end
    return lock
end

-- The lock key lives exactly as long as its last holder.
local function settle(lock)
    if not lock.changed then
        return
    end
    local last = 0
    for _, holder in pairs(lock.holders) do
        last = math.max(last, holder.expires)
    end
    if last == 0 then
        redis.call('DEL', lock.key)
    else
        redis.call('PEXPIREAT', lock.key, millis(last))
    end
end

-- Microseconds until the earliest moment at which a holder may be gone without a word.
local function time_left(lock)
    if lock.foreign then
        local left = redis.call('PTTL', lock.key) * 1000
        return left < 0 and FOREIGN_CHECK_MICROS or math.min(left, FOREIGN_CHECK_MICROS)
    end
    local first = math.huge
    for _, holder in pairs(lock.holders) do
        first = math.min(first, holder.expires)
    end
    return first == math.huge and 0 or first - now
end

-- Which of some channels have a listener. Asked before anything is said: a PUBLISH that counts nobody may still be heard at other
-- servers of a cluster, or at replicas. Who listens at another server, since the lock was there before, cannot be seen from here
-- and counts as alive. A client without the right to ask is one that reaches nobody.
local function heard(channels)
    local counts = redis.pcall('PUBSUB', 'NUMSUB', unpack(channels))
    local answers = {}
    for i, channel in ipairs(channels) do
        local home = string.match(channel, '@(%x+)$')
        answers[i] = home and home ~= redis.call('CLUSTER', 'MYID') or not counts.err and counts[2 * i] > 0
    end
    return answers
end

local function publish(channel, message)
    redis.pcall('PUBLISH', channel, message)
end

-- Who holds now, as the beginning of a walk.
local function walk_of(lock)
    local walk = { mode = '', taken = 0, smallest = math.huge }
    if lock.foreign then
        walk.mode = 'x'
    end
    for _, holder in pairs(lock.holders) do
        walk.mode = holder.mode
        walk.taken = walk.taken + holder.count
        walk.smallest = math.min(walk.smallest, holder.total)
    end
    return walk
end

local function admits(walk, demand)
    if walk.mode == '' then
        return true
    end
    if walk.mode == 's' then
        return demand.mode == 's'
    end
    return walk.mode == 'p' and demand.mode == 'p'
        and walk.taken + demand.count <= math.min(walk.smallest, demand.total)
end

local function join(walk, demand)
    walk.mode = demand.mode
    walk.taken = walk.taken + demand.count
    walk.smallest = math.min(walk.smallest, demand.total)
end

local function grant(lock, owner, demand, expires, token)
    write_holder(lock, owner, {
        expires = expires, token = token, mode = demand.mode, count = demand.count, total = demand.total,
        ttl = demand.ttl, since = text(now), channel = demand.channel, origin = demand.origin
    })
end

-- Lets in from the line whoever fits, each with a message on its client's channel, but for the owner 'me', who reads it in
-- this script's reply. Returns the walk and whether somebody reachable is left in line.
local function advance(lock, me)
    local walk = walk_of(lock)
    if walk.mode == 'x' then
        return walk, true
    end
    local passed, chunk = 0, 1
    while true do
        local owners = redis.call('ZRANGE', lock.queue, passed, passed + chunk - 1)
        chunk = CHUNK
        if #owners == 0 then
            return walk, false
        end
        for _, owner in ipairs(owners) do
            local ticket = ticket_in_line(lock, owner)
            if not ticket then
                remove_ticket(lock, owner)
            elseif not admits(walk, ticket) then
                return walk, true
            elseif owner ~= me and not heard({ ticket.channel })[1] then
                passed = passed + 1
            else
                local token = mint(lock.counter)
                remove_ticket(lock, owner)
                grant(lock, owner, ticket, ticket.expires, token)
                if owner ~= me then
                    publish(ticket.channel, 'granted ' .. owner .. ' ' .. text(token) .. ' ' .. lock.key)
                end
                join(walk, ticket)
                if walk.mode == 'x' then
                    return walk, true
                end
            end
        end
    end
end

-- The first in line who live, at least as many as asked for if there are; 'me' lives, since it asks. Drops tickets that have lapsed.
local function first_alive(lock, many, me)
    local found, from, chunk = {}, 0, WATCHERS
    while #found < many do
        local owners = redis.call('ZRANGE', lock.queue, from, from + chunk - 1)
        if #owners == 0 then
            break
        end
        local live, channels = {}, {}
        for i, packed in ipairs(redis.call('HMGET', lock.tickets, unpack(owners))) do
            local expires, ttl, channel = string.match(packed or '', EXPIRY_TTL_CHANNEL)
            if expires and tonumber(expires) > now then
                live[#live + 1] = { owner = owners[i], expires = tonumber(expires), ttl = tonumber(ttl), channel = channel }
                channels[#live] = channel
            else
                remove_ticket(lock, owners[i])
            end
        end
        from = from + #live
        chunk = math.min(2 * chunk, 128)
        for i, listens in ipairs(#live > 0 and heard(channels) or {}) do
            if listens or live[i].owner == me then
                found[#found + 1] = live[i]
            end
        end
    end
    return found
end

-- What one who stays in line is told: after how many microseconds it has to look after the holder, if that is its part. The first
-- few who live watch the holder's deadline, one after the other; a foreign key, which is looked at often, only the first.
local function waiting(lock, me)
    local watchers = lock.foreign and 1 or WATCHERS
    local ahead = redis.call('ZRANK', lock.queue, me)
    if ahead >= watchers then
        local alive = first_alive(lock, watchers, me)
        for place = 1, math.min(watchers, #alive) do
            if alive[place].owner == me then
                ahead = place - 1
            end
        end
    end
    if ahead >= watchers then
        return { 'waiting' }
    end
    return { 'waiting', text(time_left(lock) + ahead * WATCHER_STAGGER_MICROS) }
end

-- Those who watch the holder's deadline read it in the answers to their heartbeats; whose next one would come too late (a long ttl
-- waits behind a short one) is told now.
local function tell_watchers(lock)
    local left = time_left(lock)
    -- The tickets live as long as the last of them, and nobody's expiry is further away than its ttl: mostly this tells that
    -- nobody has to be told.
    if redis.call('PTTL', lock.tickets) * 1000 * HEARTBEAT <= left then
        return
    end
    local alive = first_alive(lock, WATCHERS, nil)
    for place = 1, math.min(WATCHERS, #alive) do
        local ticket = alive[place]
        if ticket.expires - (1 - HEARTBEAT) * ticket.ttl > now + left then
            publish(ticket.channel, 'watch ' .. ticket.owner .. ' ' .. text(left + (place - 1) * WATCHER_STAGGER_MICROS)
                .. ' ' .. lock.key)
        end
    end
end

-- After somebody left: let the next in.
local function pass_on(lock)
    advance(lock, nil)
    settle(lock)
    tell_watchers(lock)
end

-- What a request asks for, from ARGV[i] on: owner, mode, count, total, ttl, channel, origin.
local function demand_of(i)
    return {
        mode = ARGV[i + 1], count = tonumber(ARGV[i + 2]), total = tonumber(ARGV[i + 3]), ttl = tonumber(ARGV[i + 4]),
        channel = channel_here(ARGV[i + 5]), origin = ARGV[i + 6], since = text(now)
    }
end

local function held(token)
    return { 'held', text(token) }
end
