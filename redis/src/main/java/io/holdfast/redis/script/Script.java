package io.holdfast.redis.script;

import io.holdfast.Demand;
import io.holdfast.redis.server.Node;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.support.OriginText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The transitions of a lock, each one Lua script: {@code attempt.lua} and so on, below what it shares with others.
 *
 * <p>A script is made anew with every call, and most of what {@code lock.lua} makes serves what is rare. So the usual cases come
 * first and return before it.
 */
public enum Script {
    ATTEMPT("take-free.lua", "refuse-taken.lua", "clock.lua", "token.lua", "queue.lua", "lock.lua", "request.lua"),
    ENQUEUE("take-free.lua", "clock.lua", "queue.lua", "join-queue.lua", "token.lua", "lock.lua", "request.lua"),
    RENEW,
    HEARTBEAT("clock.lua", "token.lua", "queue.lua", "lock.lua"),
    RELEASE("release-alone.lua", "clock.lua", "token.lua", "grant-next.lua", "queue.lua", "lock.lua"),
    WITHDRAW("clock.lua", "token.lua", "queue.lua", "lock.lua"),
    ADVANCE("clock.lua", "token.lua", "queue.lua", "lock.lua"),
    FORCE("clock.lua", "token.lua", "queue.lua", "lock.lua", "foreign.lua"),
    DOWNGRADE("clock.lua", "token.lua", "queue.lua", "lock.lua"),
    RAISE("clock.lua", "token.lua"),
    VIEW("foreign.lua"),
    PRUNE("clock.lua", "token.lua");

    private final byte[] text;
    private final byte[] sha;

    /** @param parts what comes before its own text, in this order */
    Script(String... parts) {
        String own = read(name().toLowerCase(Locale.ROOT) + ".lua");
        // The first line carries the script's flags and must stay first.
        int body = own.indexOf('\n') + 1;
        StringBuilder all = new StringBuilder(own.substring(0, body));
        for (String part : parts) {
            all.append(read(part));
        }
        text = all.append(own.substring(body)).toString().getBytes(StandardCharsets.UTF_8);
        sha = sha1(text).getBytes(StandardCharsets.US_ASCII);
    }

    /** Whether it may mint a token, so that it has to know how long to keep the counter. */
    boolean mayMint() {
        return this != RENEW && this != VIEW;
    }

    /** Whether its answer may say that a ticket is held. */
    boolean mayGrant() {
        return this == ATTEMPT || this == ENQUEUE || this == RENEW || this == HEARTBEAT;
    }

    /** What keeps leases alive or ends them must not wait behind those who want a lock, or a look at one. */
    Node.Urgency urgency() {
        return switch (this) {
            case ATTEMPT, ENQUEUE, VIEW, PRUNE -> Node.Urgency.SHARED;
            default -> Node.Urgency.EXTRA;
        };
    }

    public byte[] text() {
        return text;
    }

    byte[] sha() {
        return sha;
    }

    private static String read(String file) {
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(file + " is missing from the holdfast-redis jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha1(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-1", e);
        }
    }

    /** What attempt and enqueue take. */
    public static String[] demand(Ticket ticket, String channel) {
        return new String[] {
            owner(ticket), mode(ticket), millis(ticket.ttl()), channel, OriginText.write(ticket.origin())
        };
    }

    /** A ticket's owner as scripts know it: that of permits says how many of how many. */
    public static String owner(Ticket ticket) {
        String owner = ticket.owner().toString();
        return ticket.demand() instanceof Demand.Permits some ? owner + "/" + some.count() + "/" + some.total() : owner;
    }

    /** A ttl as scripts take it: rounded up, so that the server never keeps it for less. */
    public static String millis(Duration ttl) {
        return String.valueOf((ttl.toNanos() + 999_999) / 1_000_000);
    }

    static String mode(Ticket ticket) {
        Demand demand = ticket.demand();
        return demand instanceof Demand.Permits ? "p" : demand instanceof Demand.Shared ? "s" : "x";
    }
}
