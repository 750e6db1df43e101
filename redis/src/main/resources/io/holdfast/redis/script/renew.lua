#!lua flags=allow-oom
-- Keeps holders, of many locks at once.
--
-- KEYS  lock of each; then holders of those held by several, in the same order, or none of them
-- ARGV  how many locks; of each lock: x, s or p, how many owners, and owner and ttl in milliseconds of each
-- Reply per owner 'held', 'gone' or 'failed why'
--
-- Never shortens, never revives what has expired; a ttl of 0 only asks. What holders say of themselves is kept too where its key is
-- named, but no renewal needs it: in a cluster two keys of a slot may be at two servers for a while. An error with one lock does not
-- touch the others. Works on a server that is out of memory: it must not cost the locks held.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function text(number)
    return string.format('%.0f', number)
end

local function live_until(key, micros)
    redis.call('PEXPIREAT', key, text(math.ceil(micros / 1000)), 'GT')
end

local function is_other_type(reply)
    return type(reply) == 'table' and reply.err and string.find(reply.err, 'WRONGTYPE', 1, true)
end

local function renew_shared(key, owners, ttls)
    local scores = redis.call('ZMSCORE', key, unpack(owners))
    local answers, raised, last = {}, { 'XX', 'GT' }, 0
    for i, score in ipairs(scores) do
        local is_held = score and tonumber(score) > now
        answers[i] = is_held and 'held' or 'gone'
        if is_held then
            last = math.max(last, now + ttls[i])
            table.insert(raised, text(now + ttls[i]))
            table.insert(raised, owners[i])
        end
    end
    if last > now then
        redis.call('ZADD', key, unpack(raised))
        live_until(key, last)
    end
    return answers, last
end

local function renew_exclusive(key, value, owners, ttls)
    local answers = {}
    for i, owner in ipairs(owners) do
        local start = 'holdfast ' .. owner .. ' '
        local is_held = value and string.sub(value, 1, #start) == start
        if is_held and ttls[i] > 0 then
            live_until(key, now + ttls[i])
        end
        answers[i] = is_held and 'held' or 'gone'
    end
    return answers, 0
end

-- A renewal may overtake the downgrade of its lock, or be overtaken by it, so the type of the key has the last word.
local function renew(key, mode, owners, ttls)
    if mode == 'x' then
        local value = redis.pcall('GET', key)
        if type(value) ~= 'table' then
            return renew_exclusive(key, value, owners, ttls)
        end
        if not is_other_type(value) then
            error(value)
        end
    end
    local kind = redis.call('TYPE', key)['ok']
    if kind == 'zset' or kind == 'none' then
        return renew_shared(key, owners, ttls)
    end
    return renew_exclusive(key, false, owners, ttls)
end

local replies, locks, at = {}, tonumber(ARGV[1]), 2
local holders = locks
for n = 1, locks do
    local mode, count = ARGV[at], tonumber(ARGV[at + 1])
    local owners, ttls = {}, {}
    for i = 1, count do
        owners[i] = ARGV[at + 2 * i]
        ttls[i] = ARGV[at + 2 * i + 1] * 1000
    end
    at = at + 2 + 2 * count
    local fine, answers, last = pcall(renew, KEYS[n], mode, owners, ttls)
    for i = 1, count do
        local why = not fine and (type(answers) == 'table' and answers['err'] or tostring(answers))
        table.insert(replies, fine and answers[i] or 'failed ' .. why)
    end
    holders = mode == 'x' and holders or holders + 1
    if mode ~= 'x' and KEYS[holders] and fine and last > now then
        live_until(KEYS[holders], last)
    end
end
return replies
