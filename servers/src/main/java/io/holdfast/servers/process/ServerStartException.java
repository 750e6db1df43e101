package io.holdfast.servers.process;

/** Says that a server did not start, why, and what to do; quotes the end of the server's log. */
public class ServerStartException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public ServerStartException(String message) {
        super(message);
    }

    public ServerStartException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Somebody else has bound a port that was free a moment ago: worth another try on other ports. */
    public static final class PortTaken extends ServerStartException {

        private static final long serialVersionUID = 1L;

        public PortTaken(String message) {
            super(message);
        }
    }
}
