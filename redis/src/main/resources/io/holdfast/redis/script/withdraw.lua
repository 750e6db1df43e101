#!lua flags=allow-oom
-- Undoes requests, whatever became of them.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  owners, life of the counter
-- Reply {2 if there is more to do, else 0, and per owner 1 if it was a holder or had a ticket, else 0}
--
-- The tickets may have been what others waited behind, so the next are let in then too. Works when out of memory.

local lock = open(1)
local replies = { 0 }
for i = 1, #ARGV - 1 do
    local owner, found = ARGV[i], 0
    if held_by(lock, owner) then
        remove_holder(lock, owner)
        found = 1
    end
    if redis.call('ZREM', lock.queue, owner) == 1 then
        found = 1
    end
    redis.call('ZREM', lock.heartbeats, owner)
    redis.call('HDEL', lock.tickets, owner)
    table.insert(replies, found)
end
advance(lock, {})
replies[1] = reply(0, lock)
return replies
