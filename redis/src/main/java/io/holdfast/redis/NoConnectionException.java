package io.holdfast.redis;

import java.io.EOFException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.security.cert.CertificateException;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A connection that could not be opened. Its message is for people: to which server, what happened, the likely reason and
 * what to do about it; never credentials.
 */
final class NoConnectionException extends JedisConnectionException {

    private static final long serialVersionUID = 1L;

    private static final String UNKNOWN_REPLY = "Unknown reply: ";

    NoConnectionException(String message, Throwable cause) {
        super(message, cause);
    }

    /** The server could not be reached at all. */
    static NoConnectionException unreachable(HostAndPort server, Exception e) {
        String what = "cannot connect to " + server + ": " + text(e);
        if (e instanceof ConnectException && !isTimeout(e)) {
            what += ". Is the server running there? Check host and port";
        } else if (isTimeout(e)) {
            what += ". Check host and port, and whether a firewall is in between";
        }
        return new NoConnectionException(what, e);
    }

    /** It was reached, but no TLS came about. */
    static NoConnectionException insecure(HostAndPort server, Exception e) {
        String inner = text(innermost(e));
        if (innermost(e) instanceof CertificateException wrong && inner.contains("name")) {
            return new NoConnectionException(
                    "the certificate of " + server + " is for another name (" + text(wrong)
                            + "); connect by a name in the certificate",
                    e);
        }
        if (text(e).contains("PKIX") || e.getCause() instanceof CertificateException) {
            return new NoConnectionException(
                    "the certificate of " + server + " is not trusted (" + inner
                            + "); name the file of its authority with tls-ca=FILE",
                    e);
        }
        if (inner.contains("certificate")) {
            return new NoConnectionException(
                    server + " does not accept our certificate (" + inner + "); see tls-cert=FILE and tls-key=FILE", e);
        }
        return new NoConnectionException(
                server + " did not complete the TLS handshake (" + inner
                        + "). If it works without TLS, use redis:// (or leave out tls=true); check the port, too",
                e);
    }

    /** It was reached and did not greet us as Redis does. */
    static NoConnectionException refused(HostAndPort server, boolean tls, boolean password, JedisException e) {
        String said = String.valueOf(e.getMessage());
        if (e instanceof JedisDataException) {
            return new NoConnectionException(refusal(server, password, said), e);
        }
        if (said.startsWith(UNKNOWN_REPLY)) {
            return new NoConnectionException(
                    server + " does not speak the protocol of Redis (its answer begins with '"
                            + said.substring(UNKNOWN_REPLY.length())
                            + "'): another service listens there; check the port",
                    e);
        }
        if (isTimeout(e)) {
            return new NoConnectionException(
                    server
                            + " took the connection but did not answer in time. Check the port and the state of the server",
                    e);
        }
        if (innermost(e) instanceof SocketException
                || innermost(e) instanceof EOFException
                || said.contains("end of stream")) {
            return new NoConnectionException(
                    server + " closed the connection without an answer (" + text(innermost(e)) + "). "
                            + (tls
                                    ? "Check the port and the server's log"
                                    : "If it expects TLS, use rediss:// (or tls=true); check the port, too"),
                    e);
        }
        return new NoConnectionException("no connection to " + server + ": " + said, e);
    }

    private static String refusal(HostAndPort server, boolean password, String said) {
        if (said.startsWith("NOAUTH") && !password) {
            // The rest of it explains a command nobody typed.
            return server
                    + " asks for a password, and none is given (NOAUTH); write user and password, or a colon and the"
                    + " password alone, and @ before the host in the address";
        }
        if (said.startsWith("NOAUTH") || said.startsWith("WRONGPASS")) {
            return server + " refuses the user or password (" + text(said) + "); check both";
        }
        return server + " refuses the connection (" + text(said) + ")";
    }

    static boolean isTimeout(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SocketTimeoutException) {
                return true;
            }
        }
        return false;
    }

    private static Throwable innermost(Throwable e) {
        Throwable innermost = e;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        return innermost;
    }

    private static String text(Throwable e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : text(e.getMessage());
    }

    private static String text(String said) {
        return said.strip().replaceFirst("\\.+$", "");
    }
}
