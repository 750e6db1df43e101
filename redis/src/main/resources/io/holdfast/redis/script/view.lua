#!lua flags=no-writes
-- Shows a lock and changes nothing; expired holders and lapsed tickets are left out by the reader, who is told the time.
--
-- KEYS  lock, queue, tickets, counter
-- Reply {now, 'free' | 'ours' | 'foreign', PTTL of the lock key, {owner, holder, ...}, {owner, ticket, ...}}

local kind = redis.call('TYPE', KEYS[1])['ok']
local state, holders = 'free', {}
if kind == 'hash' and redis.call('HEXISTS', KEYS[1], MARK) == 1 then
    state = 'ours'
    local flat = redis.call('HGETALL', KEYS[1])
    for f = 1, #flat, 2 do
        if flat[f] ~= MARK then
            table.insert(holders, flat[f])
            table.insert(holders, flat[f + 1])
        end
    end
elseif kind ~= 'none' then
    state = 'foreign'
end
local waiters = {}
for _, owner in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    local packed = redis.call('HGET', KEYS[3], owner)
    if packed then
        table.insert(waiters, owner)
        table.insert(waiters, packed)
    end
end
return { text(now), state, redis.call('PTTL', KEYS[1]), holders, waiters }
