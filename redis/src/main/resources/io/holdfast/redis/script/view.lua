#!lua flags=no-writes
-- Shows a part of a lock and changes nothing; expired holders and lapsed tickets are left out by the reader, who is told the time.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter
-- ARGV  from which expiry on holders are shown, after which number waiters are
-- Reply {now, 'free' | 'ours' | 'foreign', PTTL of the lock key, mode or what tells the foreign holder from others,
--        {owner, expiry, details, ...}, {owner, number, expiry, details, ...}}, with at most PAGE of each

local PAGE = 500
local FIRST_TIME = 1000000000000
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])
local left = redis.call('PTTL', KEYS[1])
local kind = redis.call('TYPE', KEYS[1])['ok']
local state, mode, holders = 'free', '', {}

-- That the key is there means held: in its last millisecond too, and if another program took its expiry.
local function show_alone(owner, life, details)
    state, mode = 'ours', 'x'
    if tonumber(ARGV[1]) <= FIRST_TIME then
        local millis = left < 0 and life or math.max(left, 1)
        holders = { owner, string.format('%.0f', now + millis * 1000), details }
    end
end

local function show_several(mark)
    state, mode = 'ours', tonumber(mark) < 0 and 'p' or 's'
    local flat = redis.call('ZRANGE', KEYS[1], ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, PAGE, 'WITHSCORES')
    for i = 1, #flat, 2 do
        table.insert(holders, flat[i])
        table.insert(holders, flat[i + 1])
        table.insert(holders, redis.call('HGET', KEYS[2], flat[i]) or '')
    end
end

if kind == 'string' then
    local owner, life, details = string.match(redis.call('GET', KEYS[1]), '^holdfast (%S+) (%d+) (.*)$')
    if owner then
        show_alone(owner, life, details)
    end
elseif kind == 'zset' then
    local mark = redis.call('ZSCORE', KEYS[1], 'holdfast')
    if mark then
        show_several(mark)
    end
end
if state == 'free' and kind ~= 'none' then
    state, mode = 'foreign', foreign_id(KEYS[1])
end

local waiters = {}
local flat = redis.call('ZRANGE', KEYS[3], '(' .. ARGV[2], '+inf', 'BYSCORE', 'LIMIT', 0, PAGE, 'WITHSCORES')
for i = 1, #flat, 2 do
    table.insert(waiters, flat[i])
    table.insert(waiters, flat[i + 1])
    table.insert(waiters, redis.call('ZSCORE', KEYS[4], flat[i]) or '0')
    table.insert(waiters, redis.call('HGET', KEYS[5], flat[i]) or '')
end
return { now, state, left, mode, holders, waiters }
