#!lua flags=allow-oom
-- Makes every token to come larger than a floor.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  floor, life of the counter
-- Reply the counter now

local floor = tonumber(ARGV[1])
local last = token_in(redis.call('GET', KEYS[6])) or no_token(KEYS[6])
if floor > last then
    keep_counter(KEYS[6], floor)
    last = floor
end
return text(last)
