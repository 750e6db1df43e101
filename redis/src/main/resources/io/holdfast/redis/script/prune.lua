#!lua flags=allow-oom
-- Removes the counter of a lock nobody holds or waits for, if it is older than that.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  idle for at least, life of the counter
-- Reply 1 if it was removed, else 0
--
-- Safe because the clock has passed the counter's value: the next token is larger without it. A counter raised beyond the
-- clock stays, and so does a value that is no token.

local last = token_in(redis.call('GET', KEYS[6])) or 0
if last == 0 or last > now - tonumber(ARGV[1]) or redis.call('EXISTS', KEYS[1], KEYS[3]) > 0 then
    return 0
end
return redis.call('DEL', KEYS[6])
