#!lua flags=allow-oom
-- Turns an exclusive holder into a shared one with the same token, and lets shared tickets behind it in.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  owner, life of the counter
-- Reply 1, or 0 if this owner does not hold the lock; 2 more if there is more to do

local lock = open(1)
local owner = ARGV[1]
local details = held_by(lock, owner)
if details and lock.mode == 'x' then
    local left = time_left(lock)
    free(lock)
    add_holder(lock, owner, 's', now + left, lock.life, details)
end
advance(lock, {})
return reply(details and 1 or 0, lock)
