package io.holdfast.servers;

/** Says that a server did not start, why, and what to do; quotes the end of the server's log. */
public class ServerStartException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ServerStartException(String message) {
        super(message);
    }

    ServerStartException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Somebody else has bound a port that was free a moment ago: worth another try on other ports. */
    static final class PortTaken extends ServerStartException {

        private static final long serialVersionUID = 1L;

        PortTaken(String message) {
            super(message);
        }
    }
}
