-- The usual case of release, before anything else is made: the one live holder leaves for good, and nobody waits.
if ARGV[2] == '0' and redis.call('EXISTS', KEYS[2]) == 0 then
    local flat = redis.pcall('HGETALL', KEYS[1])
    if #flat == 4 then
        local at = flat[1] == 'holdfast' and 3 or flat[3] == 'holdfast' and 1
        if at and flat[at] == ARGV[1] then
            local time = redis.call('TIME')
            if tonumber(string.match(flat[at + 1], '^%d+')) > tonumber(time[1]) * 1000000 + tonumber(time[2]) then
                redis.call('DEL', KEYS[1])
                return 1
            end
        end
    end
end
