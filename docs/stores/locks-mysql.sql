-- Holdfast locks on MariaDB 10.5+ and MySQL 8+.
-- Times are microseconds since 1970 in UTC, by the clock of this server:
--   SELECT name, owner, TIMESTAMPADD(MICROSECOND, expires_at, '1970-01-01') AS expires_utc FROM holdfast_lock WHERE taken > 0;
-- Another table name: replace holdfast_lock everywhere and say table=… in the store's URL.

-- One row per lock. It is free if nothing is taken or expires_at has passed. If owner holds it alone, taken is 1; else taken is
-- the sum of the permits of the held tickets (1 per reader), total the smallest total among them, and expires_at far ahead.
-- After queued_until nobody waits for it, so that whoever takes it need not look for tickets.
CREATE TABLE IF NOT EXISTS holdfast_lock (
    name         VARBINARY(512) NOT NULL,
    kind         VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    owner        VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NULL,
    token        BIGINT NOT NULL,
    acquired_at  BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    taken        INT NOT NULL,
    total        INT NOT NULL,
    renewals     BIGINT NOT NULL,
    queued_until BIGINT DEFAULT 0 NOT NULL,
    origin       VARCHAR(1000) CHARACTER SET utf8mb4 NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- One row per ticket that waits, in the order of the numbers, or is one of several holders; state: waiting, held, trying, ended.
CREATE TABLE IF NOT EXISTS holdfast_lock_ticket (
    owner       VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    number      BIGINT NOT NULL AUTO_INCREMENT,
    name        VARBINARY(512) NOT NULL,
    state       VARCHAR(7) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    kind        VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    permits     INT NOT NULL,
    total       INT NOT NULL,
    token       BIGINT NOT NULL,
    since       BIGINT NOT NULL,
    ttl         BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    renewals    BIGINT NOT NULL,
    origin      VARCHAR(1000) CHARACTER SET utf8mb4 NULL,
    PRIMARY KEY (owner),
    UNIQUE KEY holdfast_lock_ticket_number (number),
    KEY holdfast_lock_ticket_queue (name, state, number)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
