package io.holdfast.servers;

import io.holdfast.servers.process.ServerStartException;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The jars a ZooKeeper server needs, found through the class path of this JVM.
 *
 * <p>ZooKeeper's own POM leaves two of them out, and tests of other stores want none of them, so all are optional
 * dependencies of this module: who starts a ZooKeeper server adds {@code org.apache.zookeeper:zookeeper}, {@code
 * io.dropwizard.metrics:metrics-core} and {@code org.xerial.snappy:snappy-java}.
 */
final class ZooKeeperClassPath {

    /** One class from each jar the server cannot run without. */
    private static final List<String> NEEDED = List.of(
            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            "org.apache.jute.Record",
            "org.slf4j.LoggerFactory",
            "org.apache.commons.io.FileUtils",
            "com.codahale.metrics.Reservoir",
            "org.xerial.snappy.SnappyInputStream");

    /** One class from each jar it wants for TLS. */
    private static final List<String> NEEDED_FOR_TLS = List.of(
            "io.netty.handler.ssl.SslHandler",
            "io.netty.channel.Channel",
            "io.netty.buffer.ByteBuf",
            "io.netty.util.concurrent.Future",
            "io.netty.resolver.AddressResolver",
            "io.netty.handler.codec.ByteToMessageDecoder",
            "io.netty.channel.unix.Unix",
            "io.netty.channel.epoll.Epoll",
            "io.netty.internal.tcnative.SSL");

    private ZooKeeperClassPath() {}

    /** Returns those jars and no others, so nobody's logging configuration goes along. */
    static String find() {
        Set<String> entries = new LinkedHashSet<>();
        entries.add(entryOf(StderrLogging.class));
        for (String name : NEEDED) {
            entries.add(load(name).map(ZooKeeperClassPath::entryOf).orElseThrow(() -> missing(name)));
        }
        for (String name : NEEDED_FOR_TLS) {
            load(name).map(ZooKeeperClassPath::entryOf).ifPresent(entries::add);
        }
        return String.join(File.pathSeparator, entries);
    }

    private static Optional<Class<?>> load(String name) {
        try {
            return Optional.of(Class.forName(name, false, ZooKeeperClassPath.class.getClassLoader()));
        } catch (ClassNotFoundException e) {
            return Optional.empty();
        }
    }

    private static ServerStartException missing(String name) {
        return new ServerStartException("The ZooKeeper server cannot be started: class " + name
                + " is not on the class path. Add the dependencies org.apache.zookeeper:zookeeper,"
                + " io.dropwizard.metrics:metrics-core and org.xerial.snappy:snappy-java.");
    }

    private static String entryOf(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        try {
            return Path.of(source.getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException("Not a file: " + source.getLocation(), e);
        }
    }
}
