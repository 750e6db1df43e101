-- Holdfast locks on PostgreSQL 12+, in a database whose encoding is UTF8.
-- Times are microseconds since 1970 in UTC, by the clock of this server:
--   SELECT name, owner, to_timestamp(expires_at / 1e6) AS expires FROM holdfast_lock;
-- Another table name: replace holdfast_lock everywhere and say table=… in the store's URL.

-- One row per lock. It is held while expires_at lies ahead: by owner if there is one, else by rows of holdfast_lock_holder.
-- In line stand the clients that wait for it, 49 characters each: client, kind, until when its place is kept.
-- The row changes all the time and its key never does: room on the page keeps updates off the index.
CREATE TABLE IF NOT EXISTS holdfast_lock (
    name         text COLLATE "C" NOT NULL,
    kind         varchar(9) NOT NULL,
    owner        varchar(64) COLLATE "C" NULL,
    token        bigint NOT NULL,
    acquired_at  bigint NOT NULL,
    expires_at   bigint NOT NULL,
    renewals     bigint NOT NULL,
    line         text COLLATE "C" NOT NULL,
    line_until   bigint NOT NULL,
    origin       varchar(1000) NULL,
    PRIMARY KEY (name)
) WITH (fillfactor = 50);

-- Who shares a lock or has permits of it. Changed only while the lock's row is locked.
CREATE TABLE IF NOT EXISTS holdfast_lock_holder (
    name        text COLLATE "C" NOT NULL,
    owner       varchar(64) COLLATE "C" NOT NULL,
    permits     integer NOT NULL,
    total       integer NOT NULL,
    token       bigint NOT NULL,
    acquired_at bigint NOT NULL,
    expires_at  bigint NOT NULL,
    renewals    bigint NOT NULL,
    origin      varchar(1000) NULL,
    PRIMARY KEY (name, owner)
);
CREATE INDEX IF NOT EXISTS holdfast_lock_holder_expiry ON holdfast_lock_holder (expires_at);
