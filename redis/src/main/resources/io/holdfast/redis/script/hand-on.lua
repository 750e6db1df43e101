-- The usual case of release when somebody waits: the one live holder leaves for good, and the first in line is there and wants the lock
-- for itself. Does what the rest would do, in half the time. Packed holders and tickets: see lock.lua.

-- Whether anybody listens to a channel at this server. A client without the right to ask is one that reaches nobody.
local function is_heard(channel)
    local listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)
    return not listeners.err and listeners[2] > 0
end

local holder, packed = only_holder(KEYS[1])
if holder == ARGV[1] and ARGV[2] == '0' and tonumber(string.match(packed, '^%d+')) > now then
    local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
    local ticket = first and redis.call('HGET', KEYS[3], first)
    local expires, demand, channel, origin = string.match(ticket or '', '^(%d+) (x %d+ %d+ %d+) %d+ (%S+) (.*)$')
    local left = expires and tonumber(expires) - now or 0
    -- As in tell_watchers().
    local nobody_must_be_told = left > 0 and redis.call('PTTL', KEYS[3]) * 1000 * HEARTBEAT <= left
    if nobody_must_be_told and is_heard(channel) then
        local token = text(mint(KEYS[4]))
        redis.call('ZREM', KEYS[2], first)
        redis.call('HDEL', KEYS[3], first)
        redis.call('HDEL', KEYS[1], holder)
        redis.call('HSET', KEYS[1], first, table.concat({ expires, token, demand, text(now), channel, origin }, ' '))
        redis.call('PEXPIREAT', KEYS[1], millis(tonumber(expires)))
        redis.pcall('PUBLISH', channel, 'granted ' .. first .. ' ' .. token .. ' ' .. KEYS[1])
        return 1
    end
end
