-- The tokens of a lock, and the counter that keeps the last.

-- How many milliseconds a counter is kept after its last use. The last argument of every script that may mint a token.
local COUNTER_LIFE = ARGV[#ARGV]

-- The token that a counter's value is: 0 without a value, nil if it is no whole number that a double can hold.
local function token_in(value)
    if not value then
        return 0
    end
    local token = string.find(value, '^%d+$') and tonumber(value)
    return token and token < 2 ^ 53 and token or nil
end

-- Somebody else has written it: to be said, and explained by Failures.java, not guessed around.
local function no_token(counter)
    error('HOLDFAST NOTOKEN ' .. counter, 0)
end

-- A counter ahead of the clock is kept until the clock has passed it, and its life longer.
local function set_counter(counter, token)
    redis.call('SET', counter, text(token), 'PXAT', text(math.ceil(math.max(now, token) / 1000) + COUNTER_LIFE))
    return text(token)
end

-- Makes the counter at least that, and returns what it is then.
local function raise_counter(counter, floor)
    return set_counter(counter, math.max(token_in(redis.call('GET', counter)) or no_token(counter), floor))
end

-- The next token, as text: nearly always the clock. Who is let in together with others has the next ones.
local minted = {}
local function mint(counter)
    if minted[counter] then
        minted[counter] = minted[counter] + 1
        return set_counter(counter, minted[counter])
    end
    local last, token = redis.call('SET', counter, clock, 'PX', COUNTER_LIFE, 'GET'), clock
    if last and not (#last == #clock and last < clock and not string.find(last, '%D')) then
        -- What is no token stays: it is not ours to lose.
        redis.call('SET', counter, last)
        token = raise_counter(counter, math.max(now, (token_in(last) or no_token(counter)) + 1))
    end
    minted[counter] = tonumber(token)
    return token
end
