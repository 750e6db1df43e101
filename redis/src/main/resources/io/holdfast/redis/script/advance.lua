#!lua flags=allow-oom
-- Goes on where another script had too much to do at once.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  life of the counter
-- Reply 2 if there is still more to do, else 0

local lock = open(1)
drop_lapsed(lock)
advance(lock, {})
return reply(0, lock)
