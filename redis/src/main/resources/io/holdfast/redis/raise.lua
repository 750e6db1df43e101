#!lua flags=allow-oom
-- Makes every token to come larger than a floor.
--
-- KEYS  lock, queue, tickets, counter
-- ARGV  floor
-- Reply the counter now

local lock = { counter = KEYS[4] }
local floor = tonumber(ARGV[1])
local last = tonumber(redis.call('GET', lock.counter) or '0')
if floor > last then
    keep_counter(lock, floor)
    last = floor
end
return text(last)
