-- The usual case of attempt and enqueue, before anything else is made: an exclusive demand for a lock that nobody holds and nobody
-- waits for. Does what take() below would do, in fewer calls: one writes the lock if it is free and says who has it if not. The token
-- is nearly always the clock: its counter is set and read in one. What 'there' says is used by the cases that follow.
local there
if ARGV[2] == 'x' and redis.call('EXISTS', KEYS[3]) == 0 then
    local time = redis.call('TIME')
    local micros = time[1] * 1000000 + time[2]
    local clock = string.format('%.0f', micros)
    local channel = ARGV[4]
    if string.sub(channel, -1) == '@' then
        channel = channel .. redis.call('CLUSTER', 'MYID')
    end
    local start = 'holdfast ' .. ARGV[1] .. ' ' .. ARGV[3] .. ' '
    local rest = ' ' .. clock .. ' ' .. channel .. ' ' .. ARGV[5]
    local expires = string.format('%.0f', math.ceil((micros + ARGV[3]) / 1000))
    there = redis.pcall('SET', KEYS[1], start .. clock .. rest, 'PXAT', expires, 'NX', 'GET')
    if there == false then
        local token, life = clock, tonumber(ARGV[6])
        local last = redis.call('SET', KEYS[6], clock, 'PXAT', string.format('%.0f', math.ceil(micros / 1000) + life), 'GET')
        local number = last and string.find(last, '^%d+$') and tonumber(last)
        if last and not (number and number < 2 ^ 53) then
            redis.call('SET', KEYS[6], last)
            redis.call('DEL', KEYS[1])
            error('HOLDFAST NOTOKEN ' .. KEYS[6], 0)
        end
        if number and number >= micros then
            token = string.format('%.0f', number + 1)
            redis.call('SET', KEYS[6], token, 'PXAT', string.format('%.0f', math.ceil((number + 1) / 1000) + life))
            redis.call('SET', KEYS[1], start .. token .. rest, 'PXAT', expires)
        end
        return { 'held', token }
    end
end
