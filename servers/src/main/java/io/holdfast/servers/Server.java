package io.holdfast.servers;

import java.net.InetSocketAddress;
import java.nio.file.Path;

/**
 * A real server process on a loopback port, with its own directory, that can be killed, paused and restarted.
 *
 * <p>Thread-safe. Every method returns once its effect is there: {@link #kill} when the process is gone, {@link #pause} when
 * it no longer runs, {@link #restart} when it answers its own protocol again. A server never outlives the JVM that started
 * it, however that JVM ends.
 */
public interface Server extends AutoCloseable {

    /** Says what it is and which of several, for example {@code etcd-2}; for messages and logs. */
    String name();

    /** Where clients connect; the same for the life of the server, restarts included. */
    InetSocketAddress address();

    /** The port of {@link #address()}. */
    default int port() {
        return address().getPort();
    }

    /** The process id of the server as it runs now, or of its last run; each restart gives a new one. */
    long pid();

    /** Whether the process exists; a paused server does. */
    boolean isRunning();

    /** Where the server keeps its data and its log; deleted by {@link #close}. */
    Path directory();

    /** The end of what the server has written to its log. */
    String logTail();

    /** Ends the process at once, as {@code kill -9} does. Does nothing if it is not running. */
    void kill();

    /** Stops the process from running (SIGSTOP): its sockets stay open, nothing answers. */
    void pause();

    /** Lets a paused process run on (SIGCONT). */
    void resume();

    /** Ends the process the orderly way; kills it if it does not end. Does nothing if it is not running. */
    void stop();

    /** Starts the server on the same port with the data it left behind; stops it first if it is running. */
    void restart();

    /** Starts the server on the same port with no data, as after the loss of a disk; kills it first if it is running. */
    void restartEmpty();

    /** Kills the server and deletes its directory. */
    @Override
    void close();
}
