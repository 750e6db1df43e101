#!lua flags=allow-oom
-- Ends a holder and lets the next in.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  owner, linger in milliseconds, life of the counter
-- Reply 1, or 0 if this owner did not hold the lock: then nothing of anybody else is changed; 2 more if there is more to do.
--       If tickets of the same client were let in, which get no message: a list of that number, and of owner and token of each
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
local channel = string.match(details or '', '^%d+ %d+ (%S+)')
advance(lock, channel and { [channel] = true } or {})
if details and linger > 0 then
    tell_first_few(lock)
end
local answer = reply(details and 1 or 0, lock)
return #lock.unsaid == 0 and answer or { answer, unpack(lock.unsaid) }
