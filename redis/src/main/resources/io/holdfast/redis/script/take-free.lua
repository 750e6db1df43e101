-- The usual case of attempt and enqueue, before anything else is made: an exclusive demand for a lock that nobody holds and nobody
-- waits for. Does what take() below would do, in fewer calls: one writes the lock if it is free and says who has it if not. The token
-- is the clock, unless the counter, which is set and read in one, is ahead of it. What 'there' says is used by the cases that follow.
local there
if ARGV[2] == 'x' and redis.call('EXISTS', KEYS[3]) == 0 then
    local time = redis.call('TIME')
    local clock = time[1] .. (#time[2] == 6 and time[2] or string.sub('00000' .. time[2], -6))
    local channel = ARGV[4]
    if string.sub(channel, -1) == '@' then
        channel = channel .. redis.call('CLUSTER', 'MYID')
    end
    there = redis.pcall('SET', KEYS[1], 'holdfast ' .. ARGV[1] .. ' ' .. ARGV[3] .. ' ' .. clock .. ' ' .. clock .. ' ' .. channel .. ' '
        .. ARGV[5], 'PX', ARGV[3], 'NX', 'GET')
    if there == false then
        local last = redis.pcall('SET', KEYS[6], clock, 'PX', ARGV[6], 'GET')
        if last == false or type(last) == 'string' and #last == #clock and last < clock and not string.find(last, '%D') then
            return 'held ' .. clock
        end
        -- Not usual after all, or no counter: as if nothing had happened. The rest mints, or says what is wrong.
        redis.call('DEL', KEYS[1])
        if type(last) == 'string' then
            redis.call('SET', KEYS[6], last)
        end
    end
end
