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
import java.util.HexFormat;
import java.util.Locale;

/**
 * The transitions of a lock, each one Lua script: {@code attempt.lua} and so on, on top of {@code lock.lua}.
 *
 * <p>A script is made anew with every call, and most of what {@code lock.lua} makes serves what is rare. So the usual cases come
 * first and return before it.
 */
public enum Script {
    ATTEMPT("take-free.lua", "", "request.lua"),
    ENQUEUE("take-free.lua", "join-line.lua", "request.lua"),
    RENEW,
    RELEASE("release-alone.lua", "hand-on.lua", ""),
    WITHDRAW,
    FORCE,
    DOWNGRADE,
    RAISE,
    VIEW,
    PRUNE;

    private final byte[] text;
    private final byte[] sha;

    Script() {
        this("", "", "");
    }

    /**
     * @param alone its usual case when nobody else wants the lock, or empty
     * @param contended its usual case when others do, or empty
     * @param addition what it shares with some others beyond {@code lock.lua}, or empty
     */
    Script(String alone, String contended, String addition) {
        String own = read(name().toLowerCase(Locale.ROOT) + ".lua");
        // The first line carries the script's flags and must stay first.
        int body = own.indexOf('\n') + 1;
        String all = own.substring(0, body)
                + read(alone)
                + read("basics.lua")
                + read(contended)
                + read("lock.lua")
                + read(addition)
                + own.substring(body);
        text = all.getBytes(StandardCharsets.UTF_8);
        sha = sha1(text).getBytes(StandardCharsets.US_ASCII);
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
        if (file.isEmpty()) {
            return "";
        }
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
        Demand demand = ticket.demand();
        Demand.Permits permits = demand instanceof Demand.Permits some ? some : new Demand.Permits(1, 1);
        String mode = demand instanceof Demand.Permits ? "p" : demand instanceof Demand.Shared ? "s" : "x";
        return new String[] {
            ticket.owner().toString(),
            mode,
            String.valueOf(permits.count()),
            String.valueOf(permits.total()),
            Micros.text(ticket.ttl()),
            channel,
            OriginText.write(ticket.origin())
        };
    }
}
