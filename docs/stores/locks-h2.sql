-- Holdfast locks on H2 2.
-- Times are microseconds since 1970 in UTC, by the clock of the machine the database runs on.
-- Another table name: replace holdfast_lock everywhere and say table=… in the store's URL.

-- One row per lock. It is free if nothing is taken or expires_at has passed. If owner holds it alone, taken is 1; else taken is
-- the sum of the permits of the held tickets (1 per reader), total the smallest total among them, and expires_at far ahead.
-- After queued_until nobody waits for it, so that whoever takes it need not look for tickets.
CREATE TABLE IF NOT EXISTS holdfast_lock (
    name         CHARACTER VARYING(512) NOT NULL,
    kind         CHARACTER VARYING(9) NOT NULL,
    owner        CHARACTER VARYING(80),
    token        BIGINT NOT NULL,
    acquired_at  BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    taken        INTEGER NOT NULL,
    total        INTEGER NOT NULL,
    renewals     BIGINT NOT NULL,
    queued_until BIGINT DEFAULT 0 NOT NULL,
    origin       CHARACTER VARYING(1000),
    PRIMARY KEY (name)
);

-- One row per ticket that waits, in the order of the numbers, or is one of several holders; state: waiting, held, trying.
CREATE TABLE IF NOT EXISTS holdfast_lock_ticket (
    owner       CHARACTER VARYING(80) NOT NULL,
    number      BIGINT GENERATED ALWAYS AS IDENTITY,
    name        CHARACTER VARYING(512) NOT NULL,
    state       CHARACTER VARYING(7) NOT NULL,
    kind        CHARACTER VARYING(9) NOT NULL,
    permits     INTEGER NOT NULL,
    total       INTEGER NOT NULL,
    token       BIGINT NOT NULL,
    since       BIGINT NOT NULL,
    ttl         BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    renewals    BIGINT NOT NULL,
    origin      CHARACTER VARYING(1000),
    PRIMARY KEY (owner)
);
CREATE INDEX IF NOT EXISTS holdfast_lock_ticket_queue ON holdfast_lock_ticket (name, state, number);
