#!lua flags=allow-oom
-- Undoes a request, whatever became of it.
--
-- KEYS  lock, queue, tickets, counter
-- ARGV  owner
-- Reply 1 if there was a holder or a ticket of this owner, else 0
--
-- The ticket may have been what others waited behind, so the line moves in either case. Works when out of memory.

local lock = open(1)
local owner = ARGV[1]
local found = 0
if lock.holders[owner] then
    remove_holder(lock, owner)
    found = 1
end
if redis.call('ZREM', lock.queue, owner) + redis.call('HDEL', lock.tickets, owner) > 0 then
    found = 1
end
if found == 1 or lock.changed then
    pass_on(lock)
end
return found
