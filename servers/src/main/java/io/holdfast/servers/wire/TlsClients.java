package io.holdfast.servers.wire;

/** Whether a TLS server asks its clients for a certificate. */
public enum TlsClients {
    /** Anybody may connect. */
    ANONYMOUS,
    /** Only clients with a certificate of the authority may connect. */
    CERTIFIED
}
