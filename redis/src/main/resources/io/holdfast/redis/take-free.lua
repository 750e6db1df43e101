-- The usual case of attempt and enqueue, before anything else is made: nobody holds the lock and nobody waits for it. Does what
-- take() below would do, in half as many calls. The token is nearly always the clock: its counter is set and read in one.
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3]) == 0 then
    local time = redis.call('TIME')
    local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
    -- As in basics.lua.
    local week = 7 * 24 * 3600 * 1000
    local clock = string.format('%.0f', micros)
    local token = clock
    local last = redis.call('SET', KEYS[4], clock, 'PXAT', string.format('%.0f', math.ceil(micros / 1000) + week), 'GET')
    local number = last and string.find(last, '^%d+$') and tonumber(last)
    if last and not (number and number < 2 ^ 53) then
        redis.call('SET', KEYS[4], last)
        error('HOLDFAST NOTOKEN ' .. KEYS[4], 0)
    end
    if number and number >= micros then
        local next_one = number + 1
        token = string.format('%.0f', next_one)
        redis.call('SET', KEYS[4], token, 'PXAT', string.format('%.0f', math.ceil(next_one / 1000) + week))
    end
    local expires = micros + tonumber(ARGV[5])
    local channel = ARGV[6]
    if string.sub(channel, -1) == '@' then
        channel = channel .. redis.call('CLUSTER', 'MYID')
    end
    redis.call('HSET', KEYS[1], 'holdfast', '1', ARGV[1], table.concat({
        string.format('%.0f', expires), token, ARGV[2], ARGV[3], ARGV[4], ARGV[5], clock, channel, ARGV[7]
    }, ' '))
    redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.ceil(expires / 1000)))
    return { 'held', token }
end
