-- The usual case of enqueue when the lock is taken: somebody has it alone, and a new request takes the last place in line. Does what the
-- rest would do, in half the time.

-- One far behind need not watch the holder if the first in line does, and if it cannot, the rest tells who has to.
local function first_one_watches()
    local packed = redis.call('HGET', KEYS[3], redis.call('ZRANGE', KEYS[2], 0, 0)[1])
    local expires, channel = string.match(packed or '', '^(%d+) %a %d+ %d+ %d+ %d+ (%S+)')
    return expires and tonumber(expires) > now and is_heard(channel)
end

local holder, packed = only_holder(KEYS[1])
if holder and holder ~= ARGV[1] and redis.call('HEXISTS', KEYS[3], ARGV[1]) == 0 then
    local expires, mode = string.match(packed, '^(%d+) %d+ (%a)')
    local left = tonumber(expires) - now
    local ahead = redis.call('ZCARD', KEYS[2])
    if left > 0 and mode == 'x' and (ahead < WATCHERS or first_one_watches()) then
        take_last_place(KEYS[2], ARGV[1])
        keep_ticket(KEYS[2], KEYS[3], ARGV[1], now + tonumber(ARGV[5]), table.concat({
            ARGV[2], ARGV[3], ARGV[4], ARGV[5], text(now), channel_here(ARGV[6]), ARGV[7]
        }, ' '))
        return ahead < WATCHERS and { 'waiting', text(left + ahead * WATCHER_STAGGER_MICROS) } or { 'waiting' }
    end
end
