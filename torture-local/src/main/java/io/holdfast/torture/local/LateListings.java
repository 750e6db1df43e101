package io.holdfast.torture.local;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.HandlerRegistry;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/*
 * A proxy of bytes can make answers late, but it keeps their order: the listing for a sweep would still come before the answer of
 * every later release, and nothing it lists could have changed in its client's eyes. So calls are passed on one by one here, and the answers of
 * listings are overtaken by all others.
 */

/**
 * Stands before the servers of an etcd cluster and passes calls on; on demand, the keys of a lease are listed late, and told of even later,
 * but before the client gives up waiting for them. Thread-safe.
 */
final class LateListings implements ServerStand.Trouble, AutoCloseable {

    private static final String LISTING = "etcdserverpb.Lease/LeaseTimeToLive";
    private static final int MAX_ANSWER_BYTES = 64 << 20;

    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "holdfast-late-listings");
        thread.setDaemon(true);
        return thread;
    });
    private final List<Door> doors = new ArrayList<>();
    private final AtomicLong delayed = new AtomicLong();
    private volatile boolean late;

    /** One for each of these servers. */
    static LateListings before(List<InetSocketAddress> servers) {
        LateListings listings = new LateListings();
        servers.forEach(server -> listings.doors.add(listings.new Door(server)));
        return listings;
    }

    /** What clients dial, in the order of the servers. */
    List<InetSocketAddress> addresses() {
        return doors.stream().map(Door::address).toList();
    }

    /** How many listings have come late. */
    long delayed() {
        return delayed.get();
    }

    @Override
    public void begin() {
        late = true;
    }

    @Override
    public void end() {
        late = false;
    }

    @Override
    public void close() {
        doors.forEach(Door::close);
        clock.shutdownNow();
    }

    /** Before one server. */
    private final class Door extends HandlerRegistry {

        private final ManagedChannel channel;
        private final Server server;

        Door(InetSocketAddress target) {
            channel = NettyChannelBuilder.forAddress(target)
                    .usePlaintext()
                    .directExecutor()
                    .maxInboundMessageSize(MAX_ANSWER_BYTES)
                    .build();
            try {
                server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .fallbackHandlerRegistry(this)
                        .directExecutor()
                        // As etcd does.
                        .permitKeepAliveTime(5, TimeUnit.SECONDS)
                        .permitKeepAliveWithoutCalls(true)
                        .build()
                        .start();
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot stand before " + target, e);
            }
        }

        InetSocketAddress address() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort());
        }

        void close() {
            server.shutdownNow();
            channel.shutdownNow();
        }

        @Override
        public ServerMethodDefinition<?, ?> lookupMethod(String name, @Nullable String authority) {
            MethodDescriptor<byte[], byte[]> method = MethodDescriptor.newBuilder(new Bytes(), new Bytes())
                    .setFullMethodName(name)
                    .setType(MethodType.UNKNOWN)
                    .build();
            return ServerMethodDefinition.create(method, this::passOn);
        }

        private ServerCall.Listener<byte[]> passOn(ServerCall<byte[], byte[]> incoming, Metadata headers) {
            // Its deadline and its end are the incoming one's: both are of the current context.
            ClientCall<byte[], byte[]> outgoing = channel.newCall(incoming.getMethodDescriptor(), CallOptions.DEFAULT);
            boolean isListing =
                    incoming.getMethodDescriptor().getFullMethodName().equals(LISTING);
            Deadline deadline = Context.current().getDeadline();
            incoming.request(1);
            if (late && isListing && deadline != null) {
                return new LateListing(incoming, outgoing, headers, deadline);
            }
            outgoing.start(new Answer(incoming, outgoing), headers);
            outgoing.request(1);
            return new ServerCall.Listener<>() {
                @Override
                public void onMessage(byte[] message) {
                    outgoing.sendMessage(message);
                    incoming.request(1);
                }

                @Override
                public void onHalfClose() {
                    outgoing.halfClose();
                }
            };
        }
    }

    /** Passes answers on as they come. */
    private static final class Answer extends ClientCall.Listener<byte[]> {

        private final ServerCall<byte[], byte[]> asked;
        private final ClientCall<byte[], byte[]> answering;

        Answer(ServerCall<byte[], byte[]> asked, ClientCall<byte[], byte[]> answering) {
            this.asked = asked;
            this.answering = answering;
        }

        @Override
        public void onHeaders(Metadata headers) {
            asked.sendHeaders(headers);
        }

        @Override
        public void onMessage(byte[] message) {
            asked.sendMessage(message);
            answering.request(1);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            asked.close(status, trailers);
        }
    }

    /** Keeps a request back for a part of the time its client waits, and its answer for a good part of the rest. */
    private final class LateListing extends ServerCall.Listener<byte[]> {

        private final ServerCall<byte[], byte[]> incoming;
        private final ClientCall<byte[], byte[]> outgoing;
        private final Metadata headers;
        private final Deadline deadline;

        LateListing(
                ServerCall<byte[], byte[]> incoming,
                ClientCall<byte[], byte[]> outgoing,
                Metadata headers,
                Deadline deadline) {
            this.incoming = incoming;
            this.outgoing = outgoing;
            this.headers = headers;
            this.deadline = deadline;
        }

        @Override
        public void onMessage(byte[] message) {
            later(0, 0.5, () -> {
                outgoing.start(new LateAnswer(), headers);
                outgoing.request(1);
                outgoing.sendMessage(message);
                outgoing.halfClose();
            });
        }

        private void later(double least, double most, Runnable step) {
            double share = ThreadLocalRandom.current().nextDouble(least, most);
            long nanos = Math.round(deadline.timeRemaining(TimeUnit.NANOSECONDS) * share);
            clock.schedule(Context.current().wrap(step), nanos, TimeUnit.NANOSECONDS);
        }

        private final class LateAnswer extends ClientCall.Listener<byte[]> {

            private Metadata answerHeaders = new Metadata();
            private byte @Nullable [] answer;

            @Override
            public void onHeaders(Metadata received) {
                answerHeaders = received;
            }

            @Override
            public void onMessage(byte[] message) {
                answer = message;
            }

            @Override
            public void onClose(Status status, Metadata trailers) {
                later(0.3, 0.9, () -> {
                    if (answer != null) {
                        delayed.incrementAndGet();
                        incoming.sendHeaders(answerHeaders);
                        incoming.sendMessage(answer);
                    }
                    incoming.close(status, trailers);
                });
            }
        }
    }

    /** Messages as they are. */
    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
