-- The usual case of release, before anything else is made: the one holder leaves for good, and nobody waits who could be reached.
local first, value
if ARGV[2] == '0' then
    value = redis.pcall('GET', KEYS[1])
    local start = 'holdfast ' .. ARGV[1] .. ' '
    if type(value) == 'string' and string.sub(value, 1, #start) == start then
        first = redis.call('EXISTS', KEYS[3]) == 1
            and redis.call('ZRANGE', KEYS[3], '(0', '+inf', 'BYSCORE', 'LIMIT', '0', '1')[1]
        if not first then
            redis.call('DEL', KEYS[1])
            return 1
        end
    end
end
