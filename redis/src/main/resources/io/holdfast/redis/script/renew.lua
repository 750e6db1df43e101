#!lua flags=allow-oom
-- Keeps holders and tickets, many locks at once.
--
-- KEYS  lock, queue, tickets, counter of each
-- ARGV  owner, ttl, channel of each
-- Reply per lock {'held', token}, {'waiting', microseconds until it should check, or nothing if others do},
--       {'gone'} or {'failed', why}
--
-- Never shortens, never revives what has expired; a ttl of 0 only asks. A ticket that turns out to be next gets the lock in this reply, whether
-- or not its client listens: that is how a lost message and a lost subscription are made good. An error with
-- one lock does not touch the others. Works on a server that is out of memory: it must not cost the locks held.

local function renew(n)
    local lock = open(4 * n - 3)
    local owner, ttl, channel = ARGV[3 * n - 2], tonumber(ARGV[3 * n - 1]), channel_here(ARGV[3 * n])
    local holder = lock.holders[owner]
    if holder then
        holder.expires = math.max(holder.expires, now + ttl)
        holder.channel = channel
        write_holder(lock, owner, holder)
        if lock.freed then
            advance(lock, nil)
        end
        settle(lock)
        return held(holder.token)
    end
    local ticket = live_ticket(lock, owner)
    if ticket then
        ticket.expires = math.max(ticket.expires, now + ttl)
        ticket.channel = channel
        write_ticket(lock, owner, ticket)
    else
        remove_ticket(lock, owner)
    end
    advance(lock, owner)
    settle(lock)
    if lock.holders[owner] then
        tell_watchers(lock)
        return held(lock.holders[owner].token)
    end
    if not ticket then
        return { 'gone' }
    end
    return waiting(lock, owner)
end

local answers = {}
for n = 1, #KEYS / 4 do
    local fine, answer = pcall(renew, n)
    if fine then
        answers[n] = answer
    else
        answers[n] = { 'failed', type(answer) == 'table' and answer['err'] or tostring(answer) }
    end
end
return answers
