package io.holdfast.proxy;

/** Which way bytes go through a {@link TcpProxy}. */
public enum Direction {
    /** From client to server: requests. */
    TO_SERVER,
    /** From server to client: replies and pushes. */
    TO_CLIENT
}
