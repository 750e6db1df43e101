-- Holdfast locks on PostgreSQL 12+, in a database whose encoding is UTF8.
-- Times are microseconds since 1970 in UTC, by the clock of this server:
--   SELECT name, owner, to_timestamp(expires_at / 1e6) AS expires FROM holdfast_lock WHERE owner IS NOT NULL;
-- Another table name: replace holdfast_lock everywhere and say table=… in the store's URL.

-- One row per lock. It is free if nothing is taken or expires_at has passed. If owner holds it alone, taken is 1; else taken is
-- the sum of the permits of the held tickets (1 per reader), total the smallest total among them, and expires_at far ahead.
-- After queued_until nobody waits for it, so that whoever takes it need not look for tickets.
-- The row changes all the time and its key never does: room on the page keeps updates off the index.
CREATE TABLE IF NOT EXISTS holdfast_lock (
    name         text COLLATE "C" NOT NULL,
    kind         varchar(9) NOT NULL,
    owner        varchar(80) COLLATE "C" NULL,
    token        bigint NOT NULL,
    acquired_at  bigint NOT NULL,
    expires_at   bigint NOT NULL,
    taken        integer NOT NULL,
    total        integer NOT NULL,
    renewals     bigint NOT NULL,
    queued_until bigint DEFAULT 0 NOT NULL,
    origin       varchar(1000) NULL,
    PRIMARY KEY (name)
) WITH (fillfactor = 50);

-- One row per ticket that waits, in the order of the numbers, or is one of several holders; state: waiting, held, trying.
-- Not truncated: what was planned for a table of no pages reads all of them when it has grown.
CREATE TABLE IF NOT EXISTS holdfast_lock_ticket (
    owner       varchar(80) COLLATE "C" NOT NULL,
    number      bigint GENERATED ALWAYS AS IDENTITY,
    name        text COLLATE "C" NOT NULL,
    state       varchar(7) NOT NULL,
    kind        varchar(9) NOT NULL,
    permits     integer NOT NULL,
    total       integer NOT NULL,
    token       bigint NOT NULL,
    since       bigint NOT NULL,
    ttl         bigint NOT NULL,
    expires_at  bigint NOT NULL,
    renewals    bigint NOT NULL,
    origin      varchar(1000) NULL,
    PRIMARY KEY (owner)
) WITH (fillfactor = 50, vacuum_truncate = false);
CREATE INDEX IF NOT EXISTS holdfast_lock_ticket_queue ON holdfast_lock_ticket (name, state, number);
