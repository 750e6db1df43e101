-- Shared by attempt and enqueue: takes the lock for ARGV's owner if nobody is ahead. Returns the token, or nil.
-- A repeated request (its first answer was lost) finds itself the holder, is extended, and gets the token it has.
local function take(lock, owner, demand)
    local mine = lock.holders[owner]
    if mine then
        mine.expires = math.max(mine.expires, now + demand.ttl)
        write_holder(lock, owner, mine)
        return mine.token
    end
    local walk, others_wait = advance(lock, owner)
    mine = lock.holders[owner]
    if mine then
        return mine.token
    end
    if others_wait or not admits(walk, demand) then
        return nil
    end
    local token = mint(lock.counter)
    grant(lock, owner, demand, now + demand.ttl, token)
    return token
end
