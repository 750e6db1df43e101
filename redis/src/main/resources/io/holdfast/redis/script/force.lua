#!lua flags=allow-oom
-- An administrator takes the lock from holders that were seen; waiters stay in the queue and the next are let in.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  owners, or what view.lua says of a foreign one; at last the life of the counter
-- Reply {how many lost it, 2 if there is more to do, else 0}
--
-- Each is told on its client's channel, and what it was is left for as long as it would have held, so that a client which did not listen
-- finds out; a foreign one, whose key is deleted, cannot be told. The token advances even if nobody waits. Works when out of memory.

local lock = open(1)
local lost, is_changed = 0, false

local function remember(owner, expires)
    redis.call('ZADD', lock.heartbeats, text(expires), owner)
    redis.call('HSET', lock.tickets, owner, 'forced')
    live_until(lock.heartbeats, millis(expires))
    live_until(lock.tickets, millis(expires))
end

local function force(owner, details)
    local expires = lock.mode == 'x' and now + time_left(lock)
        or tonumber(redis.call('ZSCORE', lock.key, owner))
    remove_holder(lock, owner)
    is_changed = true
    if string.sub(owner, 1, 1) ~= '~' then
        lost = lost + 1
        remember(owner, expires)
        local token, channel = string.match(details, '^(%d+) %d+ (%S+)')
        if token then
            publish(channel, 'forced ' .. owner .. ' ' .. token .. ' ' .. lock.key)
        end
    end
end

for i = 1, #ARGV - 1 do
    local details = held_by(lock, ARGV[i])
    if details then
        force(ARGV[i], details)
    elseif lock.mode == 'foreign' and foreign_id(lock.key) == ARGV[i] then
        free(lock)
        lost, is_changed = lost + 1, true
    end
end
if is_changed then
    mint(lock.counter)
    advance(lock, {})
end
return { lost, reply(0, lock) }
