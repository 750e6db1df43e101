-- Tables of the recipes on PostgreSQL 12+: create those you use.

-- Fence: the newest token each resource has seen.
CREATE TABLE IF NOT EXISTS holdfast_fence (
    resource text COLLATE "C" NOT NULL,
    token    bigint NOT NULL,
    PRIMARY KEY (resource)
) WITH (fillfactor = 50);

-- TransactionLock: a row to lock per name.
CREATE TABLE IF NOT EXISTS holdfast_mutex (
    name text COLLATE "C" NOT NULL,
    uses bigint NOT NULL,
    PRIMARY KEY (name)
) WITH (fillfactor = 50);

-- Idempotency: what came of each key. Times are microseconds since 1970 in UTC, by the clock of this server.
CREATE TABLE IF NOT EXISTS holdfast_idempotency (
    request     text COLLATE "C" NOT NULL,
    fingerprint varchar(128) COLLATE "C" NOT NULL,
    state       varchar(7) NOT NULL,
    token       bigint NOT NULL,
    outcome     bytea NULL,
    expires_at  bigint NOT NULL,
    PRIMARY KEY (request)
);
CREATE INDEX IF NOT EXISTS holdfast_idempotency_expiry ON holdfast_idempotency (expires_at);
