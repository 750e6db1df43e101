#!lua flags=allow-oom
-- Turns an exclusive holder into a shared one with the same token, and lets shared tickets behind it in.
--
-- KEYS  lock, queue, tickets, counter
-- ARGV  owner
-- Reply 1, or 0 if this owner does not hold the lock

local lock = open(1)
local holder = lock.holders[ARGV[1]]
if holder then
    holder.mode, holder.count, holder.total = 's', 1, 1
    write_holder(lock, ARGV[1], holder)
end
if lock.changed then
    pass_on(lock)
end
return holder and 1 or 0
