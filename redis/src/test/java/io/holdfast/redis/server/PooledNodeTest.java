package io.holdfast.redis.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.servers.RedisServer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

@DisplayName("The connections to one server")
class PooledNodeTest {

    /** Stands for too little memory, which JUnit does not survive. */
    private static final class Failing extends SSLSocketFactory {

        @Override
        public Socket createSocket(Socket socket, String host, int port, boolean autoClose) {
            throw new Error("no memory for a socket");
        }

        @Override
        public Socket createSocket(String host, int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress from, int fromPort) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(InetAddress host, int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String[] getDefaultCipherSuites() {
            return new String[0];
        }

        @Override
        public String[] getSupportedCipherSuites() {
            return new String[0];
        }
    }

    @Test
    void areNotUsedUpByErrors() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            HostAndPort address = new HostAndPort("127.0.0.1", server.getLocalPort());
            PooledNode one =
                    new PooledNode(address, DefaultJedisClientConfig.builder().build(), new Failing(), 1);

            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> one.borrow(Node.Urgency.SHARED, soon()))
                        .isExactlyInstanceOf(Error.class);
            }
        }
    }

    @Test
    void areNeverMoreThanTheLimitAndAFew() {
        try (RedisServer server = RedisServer.start()) {
            HostAndPort address = new HostAndPort("127.0.0.1", server.port());
            PooledNode two =
                    new PooledNode(address, DefaultJedisClientConfig.builder().build(), null, 2);
            for (int i = 0; i < 6; i++) {
                two.borrow(Node.Urgency.EXTRA, soon());
            }

            Deadline already = Deadline.after(TimeSource.system(), Duration.ofMillis(50));
            assertThatThrownBy(() -> two.borrow(Node.Urgency.EXTRA, already)).hasMessageContaining("are in use");
            assertThatThrownBy(() -> two.borrow(Node.Urgency.SHARED, already)).hasMessageContaining("are in use");
        }
    }

    private static Deadline soon() {
        return Deadline.after(TimeSource.system(), Duration.ofSeconds(5));
    }
}
