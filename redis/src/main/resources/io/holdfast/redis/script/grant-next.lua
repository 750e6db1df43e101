-- The usual case of release when somebody waits: the one holder leaves for good, and the first of the queue is there and wants the lock for
-- itself. Does what the rest would do, in half the time. 'first' and the lock's 'value' were found by the case before.
local ticket = first and redis.call('HGET', KEYS[5], first)
local life, channel, origin = string.match(ticket or '', '^x (%d+) (%S+) (.*)$')
-- Of the client that releases it. Found is quick, and nearly always enough to know.
local is_own = channel and string.find(value, channel, 1, true) and channel == string.match(value, '^%S+ %S+ %S+ %S+ %S+ (%S+)')
local listeners = channel and not is_own and redis.pcall('PUBSUB', 'NUMSUB', channel)
if is_own or listeners and not listeners.err and listeners[2] > 0 then
    local expires = tonumber(redis.call('ZSCORE', KEYS[4], first) or 0)
    if expires > now then
        local token = mint(KEYS[6])
        redis.call('ZREM', KEYS[3], first)
        redis.call('ZREM', KEYS[4], first)
        redis.call('HDEL', KEYS[5], first)
        redis.call('SET', KEYS[1], 'holdfast ' .. first .. ' ' .. life .. ' ' .. token .. ' ' .. clock .. ' ' .. channel .. ' ' .. origin,
            'PXAT', millis(expires))
        if is_own then
            return { 1, first, token }
        end
        redis.pcall('PUBLISH', channel, 'granted ' .. first .. ' ' .. token .. ' ' .. KEYS[1])
        return 1
    end
end
