package io.holdfast.etcd.client;

import io.grpc.Channel;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.holdfast.spi.StoreUri.HostPort;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The members of the cluster, one of them in use.
 *
 * <p>All calls go to one member until it fails; then all go to the next. A member that was left gets a new connection
 * when its turn comes again: a broken one would sit out gRPC's back-off or TCP's. Where there is one member only, it gets a new
 * connection when the old one is broken or silent, not because it is slow: all watches would have to open anew. Thread-safe.
 */
final class Endpoints implements AutoCloseable {

    /** The server closes connections that ping more often than every 5 s. */
    private static final Duration PING_EVERY = Duration.ofSeconds(6);

    private static final Duration PING_TIMEOUT = Duration.ofSeconds(2);
    private static final int MAX_ANSWER_BYTES = 64 << 20;

    /** A member as it is in use. */
    static final class Member {
        private final int index;
        private final String address;
        private final Channel channel;
        private final @Nullable ManagedChannel owned;
        private volatile long heardNanos = System.nanoTime();
        private final AtomicReference<@Nullable Long> silentSince = new AtomicReference<>();
        private final AtomicBoolean probed = new AtomicBoolean();

        private Member(int index, String address, Channel channel, @Nullable ManagedChannel owned) {
            this.index = index;
            this.address = address;
            this.channel = channel;
            this.owned = owned;
        }

        /** For people. */
        String address() {
            return address;
        }

        Channel channel() {
            return channel;
        }

        /** A call to it begins. */
        void markAsked(long nanos) {
            silentSince.compareAndSet(null, nanos);
        }

        /** It has answered something, or told something on a watch. */
        void markHeard() {
            heardNanos = System.nanoTime();
            silentSince.set(null);
        }

        /** Since the first call that began after it was last heard, however soon its caller gave up: no proof that it hangs. */
        long silenceNanos() {
            Long since = silentSince.get();
            return since == null ? 0 : System.nanoTime() - since;
        }

        /** False if it is being probed already. */
        boolean beginProbe() {
            return probed.compareAndSet(false, true);
        }

        void endProbe() {
            probed.set(false);
        }

        boolean wasHeardSince(long nanos) {
            return heardNanos - nanos > 0;
        }
    }

    private final EtcdSettings settings;
    private final ClientInterceptor headers;
    private final @Nullable EventLoopGroup loop;
    private final @Nullable Channel given;
    private volatile Member current;
    private volatile Runnable moved = () -> {};
    private boolean closed;

    /** @param given a channel of the user's, which fails over by itself or not at all; null to connect to the hosts */
    Endpoints(EtcdSettings settings, @Nullable Channel given, String threadName, ClientInterceptor headers) {
        this.settings = settings;
        this.headers = headers;
        this.given = given;
        this.loop = given != null
                ? null
                : new MultiThreadIoEventLoopGroup(
                        1, new DefaultThreadFactory(threadName, true), NioIoHandler.newFactory());
        this.current = connect(0);
    }

    Member current() {
        return current;
    }

    int count() {
        return given == null ? settings.hosts().size() : 1;
    }

    /** Called after every change of the member in use. */
    void onMove(Runnable listener) {
        moved = listener;
    }

    /** Moves on to the next member unless somebody has already. Calls under way at the old one may finish. */
    void leave(Member member) {
        synchronized (this) {
            if (given != null || closed || current != member) {
                return;
            }
            current = connect((member.index + 1) % count());
        }
        if (member.owned != null) {
            member.owned.shutdown();
        }
        moved.run();
    }

    private Member connect(int index) {
        if (given != null) {
            return new Member(index, given.authority(), ClientInterceptors.intercept(given, headers), null);
        }
        HostPort host = settings.hosts().get(index);
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(host.host(), host.portOr(EtcdSettings.PORT))
                .eventLoopGroup(loop)
                .channelType(NioSocketChannel.class)
                .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int)
                        settings.connectTimeout().toMillis())
                .directExecutor()
                .disableRetry()
                .maxInboundMessageSize(MAX_ANSWER_BYTES)
                .keepAliveTime(PING_EVERY.toMillis(), TimeUnit.MILLISECONDS)
                .keepAliveTimeout(PING_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        if (settings.tls().isPresent()) {
            encrypt(builder, settings.tls().get());
        } else {
            builder.usePlaintext();
        }
        ManagedChannel channel = builder.build();
        String address = host.host() + ":" + host.portOr(EtcdSettings.PORT);
        return new Member(index, address, ClientInterceptors.intercept(channel, headers), channel);
    }

    private static void encrypt(NettyChannelBuilder builder, EtcdSettings.Tls tls) {
        SslContextBuilder context = GrpcSslContexts.forClient();
        tls.authority().ifPresent(file -> context.trustManager(file.toFile()));
        if (tls.certificate().isPresent() && tls.key().isPresent()) {
            context.keyManager(tls.certificate().get().toFile(), tls.key().get().toFile());
        }
        tls.serverName().ifPresent(builder::overrideAuthority);
        try {
            builder.sslContext(context.build());
        } catch (SSLException e) {
            throw new IllegalArgumentException("the TLS files of etcd do not fit together: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        Member last;
        synchronized (this) {
            closed = true;
            last = current;
        }
        if (last.owned != null) {
            last.owned.shutdownNow();
        }
        if (loop != null) {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }
}
