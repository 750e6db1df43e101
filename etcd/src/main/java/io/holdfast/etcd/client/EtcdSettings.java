package io.holdfast.etcd.client;

import io.holdfast.spi.StoreUri.HostPort;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a store talks to etcd. Immutable.
 *
 * @param display the store's name for people, without credentials
 * @param hosts the members, in order of preference
 * @param tls how to encrypt, if at all
 * @param login user and password, if the server wants them
 * @param prefix what all keys begin with
 * @param timeout the longest wait for an answer, whatever the caller's deadline
 * @param connectTimeout the longest wait for a connection to one member
 * @param lease a lease the user keeps already, to use instead of own ones
 */
public record EtcdSettings(
        String display,
        List<HostPort> hosts,
        Optional<Tls> tls,
        Optional<Login> login,
        String prefix,
        Duration timeout,
        Duration connectTimeout,
        OptionalLong lease) {

    public static final int PORT = 2379;
    public static final String PREFIX = "holdfast/";
    public static final Duration TIMEOUT = Duration.ofSeconds(5);
    public static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);

    /** Files in PEM form; without an authority the JVM's own trust store decides. */
    public record Tls(
            Optional<Path> authority, Optional<Path> certificate, Optional<Path> key, Optional<String> serverName) {}

    public record Login(String user, String password) {
        @Override
        public String toString() {
            return "Login[" + user + "]";
        }
    }
}
