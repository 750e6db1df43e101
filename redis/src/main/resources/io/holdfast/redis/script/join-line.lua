-- The usual case of enqueue when the lock is taken: somebody has it alone, and a new request takes the last place in line. Does what the
-- rest would do, in half the time. Packed holders and tickets: see lock.lua.

local holder, packed = only_holder(KEYS[1])
if holder and holder ~= ARGV[1] and redis.call('HEXISTS', KEYS[3], ARGV[1]) == 0 then
    local expires, mode = string.match(packed, '^(%d+) %d+ (%a)')
    local left, ttl = tonumber(expires) - now, tonumber(ARGV[5])
    local ahead = redis.call('ZCARD', KEYS[2])
    -- One far behind may have to watch the holder nevertheless, if those in front are dead. It hears so with its next heartbeat,
    -- unless that is too late.
    if left > 0 and mode == 'x' and (ahead < WATCHERS or HEARTBEAT * ttl <= left) then
        local channel = channel_here(ARGV[6])
        take_last_place(KEYS[2], ARGV[1])
        keep_ticket(KEYS[2], KEYS[3], ARGV[1], now + ttl, table.concat({
            ARGV[2], ARGV[3], ARGV[4], ARGV[5], text(now), channel, ARGV[7]
        }, ' '))
        return ahead < WATCHERS and { 'waiting', text(left + ahead * WATCHER_STAGGER_MICROS) } or { 'waiting' }
    end
end
