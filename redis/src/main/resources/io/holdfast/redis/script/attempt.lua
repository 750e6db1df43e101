#!lua
-- Takes the lock or leaves no trace.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  owner, mode, ttl in milliseconds, channel, origin, life of the counter
-- Reply 'held token', 'refused microseconds until a holder may be gone', or 'again' if there was too much to clear away at once
--
-- Never overtakes a ticket in the queue that can be reached. Refused as a whole when the server is out of memory.

local lock = open(1)
local token = take(lock, {})
if token then
    return held(token)
end
if lock.again then
    return 'again'
end
local left = time_left(lock)
return left < math.huge and 'refused ' .. text(left) or 'refused'
