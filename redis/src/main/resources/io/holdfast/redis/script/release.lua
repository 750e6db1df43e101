#!lua flags=allow-oom
-- Ends a holder and lets the next in.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  owner, linger in milliseconds, life of the counter
-- Reply 1, or 0 if this owner did not hold the lock: then nothing of anybody else is changed; 2 more if there is more to do
--
-- With a linger the lock stays taken by nobody for that long, whether or not the client lives to see it.
-- Works on a server that is out of memory.

local lock = open(1)
local owner, linger, mode = ARGV[1], ARGV[2] * 1000, lock.mode
local details = held_by(lock, owner)
if details then
    remove_holder(lock, owner)
    if linger > 0 then
        add_holder(lock, '~' .. owner, mode, now + linger, ARGV[2], details)
    end
end
advance(lock, {})
if details and linger > 0 then
    tell_first_few(lock)
end
return reply(details and 1 or 0, lock)
