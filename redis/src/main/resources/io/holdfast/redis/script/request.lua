-- Shared by attempt and enqueue: takes the lock for ARGV's owner if nobody is ahead. Returns the token, or nil.
-- A repeated request (its first answer was lost) finds itself the holder, is extended, and gets the token it has.
local function take(lock, mine)
    local owner, mode, expires = ARGV[1], ARGV[2], now + ARGV[3] * 1000
    local details = held_by(lock, owner)
    if details then
        extend(lock, owner, expires)
        return string.match(details, '^%d+') or mint(lock.counter)
    end
    local others_wait = advance(lock, mine)
    if lock.granted[owner] then
        return lock.granted[owner]
    end
    if others_wait or not admits(lock, mode, owner) then
        return nil
    end
    local token = mint(lock.counter)
    add_holder(lock, owner, mode, expires, ARGV[3], token .. ' ' .. clock .. ' ' .. channel_here(ARGV[4]) .. ' ' .. ARGV[5])
    return token
end
