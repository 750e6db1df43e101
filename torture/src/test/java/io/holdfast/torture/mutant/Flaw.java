package io.holdfast.torture.mutant;

/** What is wrong with a store, a resource or a client. */
enum Flaw {
    NONE,
    /** A release frees the lock whoever holds it. */
    RELEASE_WITHOUT_OWNER_CHECK,
    /** A renewal makes its sender the holder, whoever was. */
    RENEWAL_WITHOUT_OWNER_CHECK,
    /** A lease is counted from the reply that brought it. */
    DEADLINE_FROM_THE_REPLY,
    /** A renewal counts although its reply never came. */
    RENEWAL_COUNTED_WITHOUT_REPLY,
    /** The clock of the engine is slow. */
    SLOW_CLOCK,
    /** A restarted store counts its tokens from one. */
    TOKENS_RESET_BY_RESTART,
    /** A restarted store has forgotten its leases. */
    LEASES_FORGOTTEN_BY_RESTART,
    /** The resource looks at tokens only when it is written to. */
    FIRST_READ_UNCHECKED,
    /** The resource looks at no tokens. */
    WRITES_UNCHECKED,
    /** The first waiter is answered but not in line. */
    WAITER_FORGOTTEN,
    /** Whoever came last is served first. */
    LAST_COME_FIRST_SERVED,
    /** Whoever asks is granted. */
    GRANTED_THOUGH_HELD,
    /** A lease ends after a tenth of its ttl. */
    EXPIRES_TOO_SOON,
    /** A lease of a dead holder never ends. */
    NEVER_EXPIRES,
    /** Readers are let in beside a writer. */
    READERS_BESIDE_A_WRITER,
    /** All readers get one token. */
    ONE_TOKEN_FOR_ALL_READERS,
    /** There is always one more permit. */
    ONE_PERMIT_TOO_MANY,
    /** Waiters that gave up stay in line for ever. */
    TICKETS_LEFT_BEHIND
}
