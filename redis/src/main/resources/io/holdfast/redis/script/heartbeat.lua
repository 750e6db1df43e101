#!lua flags=allow-oom
-- Keeps tickets that wait, of many locks at once.
--
-- KEYS  lock, holders, queue, heartbeats, tickets, counter of each lock
-- ARGV  channel; of each lock: how many owners, and owner and ttl in milliseconds of each; at last the life of a counter
-- Reply per owner 'held token', 'waiting microseconds until it should look again', 'gone', 'forced' or 'failed why'
--
-- Never shortens, never revives what has lapsed; a ttl of 0 only asks. A ticket that turns out to be next gets the lock in this reply,
-- whether or not its client listens: that is how a lost message and a lost subscription are made good. All tickets are back in the queue
-- before the first is let in, so those of one client keep their order. An error with one lock does not touch the others. Works on a server
-- that is out of memory: it must not cost what is waited for.

local channel = channel_here(ARGV[1])

local function answer_of(lock, owner, ttl, number)
    if lock.granted[owner] then
        return held(lock.granted[owner])
    end
    if number then
        return waiting(lock, number)
    end
    local details = held_by(lock, owner)
    if details then
        if ttl > 0 then
            extend(lock, owner, now + ttl)
        end
        return held(string.match(details, '^%d+') or mint(lock.counter))
    end
    return redis.call('HGET', lock.tickets, owner) == 'forced' and 'forced' or 'gone'
end

local function heartbeat(lock, owners, ttls)
    drop_lapsed(lock)
    local mine, numbers, answers = {}, {}, {}
    for i, owner in ipairs(owners) do
        numbers[i] = keep_ticket(lock, owner, ttls[i], channel)
        mine[owner] = true
    end
    advance(lock, mine)
    for i, owner in ipairs(owners) do
        answers[i] = answer_of(lock, owner, ttls[i], numbers[i])
    end
    return answers
end

local replies, at = {}, 2
for n = 1, #KEYS / 6 do
    local owners, ttls, count = {}, {}, tonumber(ARGV[at])
    for i = 1, count do
        owners[i] = ARGV[at + 2 * i - 1]
        ttls[i] = ARGV[at + 2 * i] * 1000
    end
    at = at + 1 + 2 * count
    local fine, answers = pcall(function() return heartbeat(open(6 * n - 5), owners, ttls) end)
    for i = 1, count do
        local why = not fine and (type(answers) == 'table' and answers['err'] or tostring(answers))
        table.insert(replies, fine and answers[i] or 'failed ' .. why)
    end
end
return replies
