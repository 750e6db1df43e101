-- Holdfast locks on MariaDB 10.5+ and MySQL 8+.
-- Times are microseconds since 1970 in UTC, by the clock of this server:
--   SELECT name, owner, TIMESTAMPADD(MICROSECOND, expires_at, '1970-01-01') AS expires_utc FROM holdfast_lock;
-- Another table name: replace holdfast_lock everywhere and say table=… in the store's URL.

-- One row per lock. It is held while expires_at lies ahead: by owner if there is one, else by rows of holdfast_lock_holder.
-- In line stand the clients that wait for it, 49 characters each: client, kind, until when its place is kept.
CREATE TABLE IF NOT EXISTS holdfast_lock (
    name         VARBINARY(512) NOT NULL,
    kind         VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    owner        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    token        BIGINT NOT NULL,
    acquired_at  BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    renewals     BIGINT NOT NULL,
    line         VARCHAR(12250) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    line_until   BIGINT NOT NULL,
    origin       VARCHAR(1000) CHARACTER SET utf8mb4 NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- Who shares a lock or has permits of it. Changed only while the lock's row is locked.
CREATE TABLE IF NOT EXISTS holdfast_lock_holder (
    name        VARBINARY(512) NOT NULL,
    owner       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    permits     INT NOT NULL,
    total       INT NOT NULL,
    token       BIGINT NOT NULL,
    acquired_at BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    renewals    BIGINT NOT NULL,
    origin      VARCHAR(1000) CHARACTER SET utf8mb4 NULL,
    PRIMARY KEY (name, owner),
    KEY holdfast_lock_holder_expiry (expires_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
