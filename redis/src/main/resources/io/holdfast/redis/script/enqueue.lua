#!lua
-- Takes the lock, or joins its queue.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  owner, mode, ttl in milliseconds, channel, origin, life of the counter
-- Reply 'held token' or 'waiting microseconds until it should look again'
--
-- A repeated request finds its ticket and keeps its number. Refused as a whole when the server is out of memory.

local lock = open(1)
drop_lapsed(lock)
local owner, ttl, channel = ARGV[1], ARGV[3] * 1000, channel_here(ARGV[4])
local number = keep_ticket(lock, owner, ttl, channel)
local token = take(lock, { [owner] = true })
if token then
    return held(token)
end
lock.lapse = first_lapse(lock.heartbeats)
if not number then
    redis.call('ZADD', lock.heartbeats, text(now + ttl), owner)
    number = join_queue(lock.queue, lock.heartbeats, lock.tickets, owner, ttl,
        ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. channel .. ' ' .. ARGV[5])
end
return waiting(lock, number)
