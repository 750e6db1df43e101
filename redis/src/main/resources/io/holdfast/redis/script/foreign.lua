-- Tells a foreign holder from the next one: by its value if it is a string, else only by its type.
local function foreign_id(key)
    local kind = redis.call('TYPE', key)['ok']
    return 'foreign/' .. (kind == 'string' and redis.sha1hex(redis.call('GET', key)) or kind)
end
