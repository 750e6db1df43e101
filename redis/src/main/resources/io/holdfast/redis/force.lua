#!lua flags=allow-oom
-- An administrator takes the lock from all its holders; waiters stay in line and the next is let in.
--
-- KEYS  lock, queue, tickets, counter
-- Reply how many lost it
--
-- Each is told on its client's channel; a foreign one, whose key is deleted, cannot be. The token advances even if nobody waits.
-- Works when out of memory.

local lock = open(1)
local lost = 0
if lock.foreign then
    redis.call('DEL', lock.key)
    lock.foreign = false
    lock.changed = true
    lost = 1
end
for owner, holder in pairs(lock.holders) do
    remove_holder(lock, owner)
    if string.sub(owner, 1, 1) ~= '~' then
        publish(holder.channel, 'forced ' .. owner .. ' ' .. text(holder.token) .. ' ' .. lock.key)
        lost = lost + 1
    end
end
if lock.changed then
    mint(lock.counter)
    pass_on(lock)
end
return lost
