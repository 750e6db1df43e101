package io.holdfast.spi;

import io.holdfast.LockView;
import java.util.List;

/**
 * The two scales of fencing tokens. A store numbers its grants with <em>store tokens</em>; users see store token × 1,024 plus a
 * local number, which counts the leases that were handed on inside one client without a trip to the store. Stores speak of
 * store tokens only; the engine turns them into users' tokens.
 */
public final class Tokens {

    /** No token: nothing was granted. Store tokens are positive. */
    public static final long NONE = 0;

    /** A grant may be handed on this often: the local number has 10 bits. */
    public static final int MOST_LOCAL_NUMBERS = 1_023;

    private static final int LOCAL_BITS = 10;
    private static final long STORE_TOKEN_LIMIT = 1L << 53;

    private Tokens() {}

    /** The token users see. */
    public static long ofUsers(long storeToken, int localNumber) {
        return (storeToken << LOCAL_BITS) + localNumber;
    }

    /** The store's own number behind a token users see. */
    public static long ofStore(long usersToken) {
        return usersToken >> LOCAL_BITS;
    }

    /** A view in which a store named its tokens, as users see it. */
    public static LockView ofUsers(LockView view) {
        List<LockView.Holder> holders =
                view.holders().stream().map(Tokens::ofUsers).toList();
        return new LockView(view.name(), holders, view.waiters());
    }

    private static LockView.Holder ofUsers(LockView.Holder holder) {
        return new LockView.Holder(
                holder.origin(),
                holder.demand(),
                holder.token().map(token -> ofUsers(token, 0)),
                holder.since(),
                holder.timeLeft(),
                holder.standing());
    }

    /** Whether a store may number a grant so: positive, and below 2^53. */
    public static boolean isStoreToken(long number) {
        return number > 0 && number < STORE_TOKEN_LIMIT;
    }

    static void requireStoreToken(String lockName, long storeToken) {
        if (!isStoreToken(storeToken)) {
            throw new IllegalArgumentException(
                    "store token " + storeToken + " of lock '" + lockName + "' is outside 1..2^53");
        }
    }
}
