package io.holdfast.redis.server;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/** What the failure of a request to a server means. */
public final class Failures {

    /** Where it is not known which one. */
    public static final String SERVER = "the server";

    /** What token.lua says of a counter that is none. */
    private static final Pattern NO_TOKEN = Pattern.compile("HOLDFAST NOTOKEN (.+?)(?: script: \\p{XDigit}+, on .*)?$");

    private static final List<String> REFUSALS = List.of("NOAUTH", "WRONGPASS", "NOPERM");
    private static final List<String> DEMOTED = List.of("READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN");
    private static final List<String> SPLIT = List.of("TRYAGAIN");
    private static final List<String> NO_REPLICAS = List.of("NOREPLICAS");

    private Failures() {}

    public static boolean isTimeout(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SocketTimeoutException) {
                return true;
            }
        }
        return false;
    }

    /** What the server would say again: a wrong password, a missing right. Not that it has no room now. */
    public static boolean isRefusal(JedisException e) {
        Throwable answer = e instanceof NoConnectionException ? e.getCause() : e;
        return answer instanceof JedisDataException && beginsWithOneOf(REFUSALS, answer);
    }

    /** The answer of a server that is not, or not yet, the one to ask. */
    public static boolean mayPass(JedisDataException e) {
        return isDemoted(e) || isSplit(e) || beginsWithOneOf(NO_REPLICAS, e);
    }

    /** The answer of a server that does not serve locks: its address may lead to another one by now. */
    public static boolean isDemoted(JedisDataException e) {
        return beginsWithOneOf(DEMOTED, e);
    }

    /** Some keys of the call are at another server of the cluster already. */
    public static boolean isSplit(JedisDataException e) {
        return beginsWithOneOf(SPLIT, e);
    }

    private static boolean beginsWithOneOf(List<String> words, Throwable e) {
        String message = String.valueOf(e.getMessage());
        return words.stream().anyMatch(message::startsWith);
    }

    /**
     * For people: what the server said, or what happened to the connection.
     *
     * @param server which one, or {@link #SERVER}
     */
    public static String reason(Throwable e, String server) {
        String message = String.valueOf(e.getMessage());
        if (e instanceof NoConnectionException) {
            return message;
        }
        if (isTimeout(e)) {
            return server + " did not answer in time";
        }
        if (e instanceof JedisConnectionException && e.getCause() instanceof IOException broken) {
            return "the connection to " + server + " broke (" + broken.getMessage() + ")";
        }
        Matcher counter = NO_TOKEN.matcher(message);
        if (counter.find()) {
            String key = counter.group(1);
            return "the key " + key + " is not a token, so something else has written it. If nobody needs that, remove"
                    + " it: redis-cli DEL '" + key.replace("'", "'\\''") + "'";
        }
        if (message.contains("compiling script") && message.contains("'#'")) {
            return "the server is older than Redis 7.0, which Holdfast needs";
        }
        if (e instanceof JedisMovedDataException) {
            return "the server is part of a cluster, use redis-cluster:// (" + message + ")";
        }
        if (message.startsWith("OOM")) {
            return "the server is out of memory and takes no new locks; held ones can be renewed and released ("
                    + message + ")";
        }
        if (message.startsWith("NOAUTH") || message.startsWith("WRONGPASS")) {
            return "the server refuses the user or password (" + message + ")";
        }
        if (message.contains("NOPERM") || message.contains("ACL failure")) {
            return "the user lacks a permission, compare docs/stores/redis.acl (" + message + ")";
        }
        if (message.contains("WRONGTYPE")) {
            return "a key of the lock holds something else (" + message + ")";
        }
        return message;
    }
}
