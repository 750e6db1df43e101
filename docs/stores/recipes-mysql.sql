-- Tables of the recipes on MariaDB 10.5+ and MySQL 8+: create those you use.

-- Fence: the newest token each resource has seen.
CREATE TABLE IF NOT EXISTS holdfast_fence (
    resource VARBINARY(512) NOT NULL,
    token    BIGINT NOT NULL,
    PRIMARY KEY (resource)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- TransactionLock: a row to lock per name.
CREATE TABLE IF NOT EXISTS holdfast_mutex (
    name VARBINARY(512) NOT NULL,
    uses BIGINT NOT NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- Idempotency: what came of each key. Times are microseconds since 1970 in UTC, by the clock of this server.
CREATE TABLE IF NOT EXISTS holdfast_idempotency (
    request     VARBINARY(512) NOT NULL,
    fingerprint VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    state       VARCHAR(7) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    token       BIGINT NOT NULL,
    outcome     LONGBLOB NULL,
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (request),
    KEY holdfast_idempotency_expiry (expires_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
