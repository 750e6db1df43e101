#!lua
-- Takes the lock or leaves no trace.
--
-- KEYS  lock, queue, tickets, counter
-- ARGV  owner, mode, count, total, ttl, channel, origin
-- Reply {'held', token} or {'refused', microseconds until a holder may be gone}
--
-- Never overtakes a ticket in line that can be reached. Refused as a whole when the server is out of memory.

local lock = open(1)
local token = take(lock, ARGV[1], demand_of(1))
settle(lock)
if token then
    return held(token)
end
return { 'refused', text(time_left(lock)) }
