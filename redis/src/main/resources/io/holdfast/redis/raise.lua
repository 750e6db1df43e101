#!lua flags=allow-oom
-- Makes every token to come larger than a floor.
--
-- KEYS  lock, queue, tickets, counter
-- ARGV  floor
-- Reply the counter now

local floor = tonumber(ARGV[1])
local last = token_in(redis.call('GET', KEYS[4])) or no_token(KEYS[4])
if floor > last then
    keep_counter(KEYS[4], floor)
    last = floor
end
return text(last)
