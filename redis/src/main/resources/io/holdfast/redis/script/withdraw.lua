#!lua flags=allow-oom
-- Undoes a request, whatever became of it.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  owner, life of the counter
-- Reply 1 if there was a holder or a ticket of this owner, else 0; 2 more if there is more to do
--
-- The ticket may have been what others waited behind, so the next are let in then too. Works when out of memory.

local lock = open(1)
local owner = ARGV[1]
local found = 0
if held_by(lock, owner) then
    remove_holder(lock, owner)
    found = 1
end
if redis.call('ZREM', lock.queue, owner) == 1 then
    found = 1
end
redis.call('ZREM', lock.heartbeats, owner)
redis.call('HDEL', lock.tickets, owner)
advance(lock, {})
return reply(found, lock)
