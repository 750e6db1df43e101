#!lua
-- Takes the lock, or the last place in line.
--
-- KEYS  lock, queue, tickets, counter
-- ARGV  owner, mode, count, total, ttl, channel, origin
-- Reply {'held', token} or {'waiting', microseconds until it should check, or nothing if others do}
--
-- A repeated request finds its ticket and keeps its place. Refused as a whole when the server is out of memory.

local lock = open(1)
local owner = ARGV[1]
local demand = demand_of(1)
local ticket = live_ticket(lock, owner)
if ticket then
    ticket.expires = math.max(ticket.expires, now + demand.ttl)
    ticket.channel = demand.channel
    write_ticket(lock, owner, ticket)
end

local token = take(lock, owner, demand)
settle(lock)
if token then
    remove_ticket(lock, owner)
    return held(token)
end
if not ticket then
    take_last_place(lock.queue, owner)
    demand.expires = now + demand.ttl
    write_ticket(lock, owner, demand)
end
return waiting(lock, owner)
