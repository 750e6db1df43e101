-- The time, and numbers as text.
--
-- What usual cases need comes in files of its own: every function is made anew with every call, and most calls end with a usual case.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- The same as text, for nearly every token is that.
local clock = time[1] .. string.sub('00000' .. time[2], -6)

-- Numbers of 16 digits: tostring() would write 1.8e+15.
local function text(number)
    return string.format('%.0f', number)
end

local function millis(micros)
    return text(math.ceil(micros / 1000))
end
