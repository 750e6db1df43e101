-- The usual case of attempt when the lock is taken: somebody else has it alone.
if there == nil then
    there = redis.pcall('GET', KEYS[1])
end
local holder = type(there) == 'string' and string.match(there, '^holdfast (%S+) ')
if holder and holder ~= ARGV[1] then
    local left = redis.call('PTTL', KEYS[1])
    if left >= 0 then
        return string.format('refused %.0f', left * 1000)
    end
end
