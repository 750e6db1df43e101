#!lua flags=allow-oom
-- Ends a holder and lets the next in.
--
-- KEYS  lock, queue, tickets, counter
-- ARGV  owner, linger
-- Reply 1, or 0 if this owner did not hold the lock: then nothing of anybody else is changed
--
-- With a linger the lock stays taken by nobody for that long, whether or not the client lives to see it.
-- Works on a server that is out of memory.

local lock = open(1)
local owner, linger = ARGV[1], tonumber(ARGV[2])
local holder = lock.holders[owner]
if holder then
    remove_holder(lock, owner)
    if linger > 0 then
        holder.expires = now + linger
        holder.channel = '-'
        write_holder(lock, '~' .. owner, holder)
    end
end
if lock.changed then
    pass_on(lock)
end
return holder and 1 or 0
