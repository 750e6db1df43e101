package io.holdfast.bench.server;

import io.holdfast.spi.StoreUri;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Probes of the servers that count what they do. Where a server does not tell, its figure is left out of the report. */
public final class ServerProbes {

    /** What clients send; what scripts call inside the server is counted by Redis too, but is no round trip. */
    private static final Set<String> REDIS_REQUESTS = Set.of(
            "eval",
            "evalsha",
            "fcall",
            "script|load",
            "subscribe",
            "unsubscribe",
            "psubscribe",
            "ssubscribe",
            "sunsubscribe",
            "blpop",
            "wait",
            "ping",
            "hello",
            "lpush");

    private static final Pattern REDIS_CALLS = Pattern.compile("cmdstat_([^:]+):calls=(\\d+)");
    private static final Pattern ETCD_MESSAGES =
            Pattern.compile("(?m)^grpc_server_msg_received_total\\{[^}]*} ([0-9.e+]+)$");
    private static final Pattern ZOOKEEPER_PACKETS = Pattern.compile("(?m)^Received: (\\d+)$");
    private static final Pattern OUR_PARAMETERS = Pattern.compile("[?&](createSchema|table|connections|listen)=[^&]*");
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private ServerProbes() {}

    /** Finds out what can be seen of a store's server. */
    public static ServerProbe of(StoreAddress address) {
        Optional<InetSocketAddress> server = address.server();
        if (server.isEmpty()) {
            return ServerProbe.blind();
        }
        boolean local =
                server.get().getAddress() != null && server.get().getAddress().isLoopbackAddress();
        return of(address, local ? LocalProcess.listeningOn(server.get().getPort()) : OptionalLong.empty());
    }

    /** A probe of a server whose process is known. */
    public static ServerProbe of(StoreAddress address, OptionalLong pid) {
        InetSocketAddress server = address.server().orElseThrow();
        Counter counter = switch (address.kind()) {
            case "redis" -> () -> redis(address, server);
            case "etcd" -> () -> etcd(server);
            case "zookeeper" -> () -> zookeeper(server);
            case "jdbc:mariadb", "jdbc:mysql" -> () -> sql(address, "SHOW GLOBAL STATUS LIKE 'Questions'", 2);
            case "jdbc:postgresql" ->
                () -> sql(address, "SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database", 1);
            default -> OptionalDouble::empty;
        };
        return () -> new ServerProbe.Sample(
                pid.isPresent() ? LocalProcess.cpuNanos(pid.getAsLong()) : OptionalDouble.empty(), count(counter));
    }

    @FunctionalInterface
    private interface Counter {
        OptionalDouble count() throws IOException, SQLException, InterruptedException;
    }

    private static OptionalDouble count(Counter counter) {
        try {
            return counter.count();
        } catch (IOException | SQLException | RuntimeException notTold) {
            return OptionalDouble.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return OptionalDouble.empty();
        }
    }

    private static OptionalDouble redis(StoreAddress address, InetSocketAddress server) throws IOException {
        StoreUri uri = StoreUri.parse(address.uri());
        try (RespConnection redis = new RespConnection(server.getHostString(), server.getPort())) {
            if (uri.password().isPresent()) {
                redis.call("AUTH", uri.user().orElse("default"), uri.password().get());
            }
            String stats = redis.call("INFO", "commandstats");
            double sum = 0;
            Matcher matcher = REDIS_CALLS.matcher(stats == null ? "" : stats);
            while (matcher.find()) {
                if (REDIS_REQUESTS.contains(matcher.group(1).toLowerCase(Locale.ROOT))) {
                    sum += Double.parseDouble(matcher.group(2));
                }
            }
            return OptionalDouble.of(sum);
        }
    }

    private static OptionalDouble etcd(InetSocketAddress server) throws IOException, InterruptedException {
        HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://" + server.getHostString() + ":" + server.getPort() + "/metrics"))
                .timeout(TIMEOUT)
                .build();
        String metrics =
                client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        return ETCD_MESSAGES
                .matcher(metrics)
                .results()
                .mapToDouble(result -> Double.parseDouble(result.group(1)))
                .reduce(Double::sum);
    }

    private static OptionalDouble zookeeper(InetSocketAddress server) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(server, (int) TIMEOUT.toMillis());
            socket.setSoTimeout((int) TIMEOUT.toMillis());
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Matcher matcher = ZOOKEEPER_PACKETS.matcher(answer);
            return matcher.find() ? OptionalDouble.of(Double.parseDouble(matcher.group(1))) : OptionalDouble.empty();
        }
    }

    private static OptionalDouble sql(StoreAddress address, String query, int column) throws SQLException {
        String url = OUR_PARAMETERS.matcher(address.uri()).replaceAll("");
        int question = url.indexOf('?');
        int ampersand = url.indexOf('&');
        if (question < 0 && ampersand > 0) {
            url = url.substring(0, ampersand) + "?" + url.substring(ampersand + 1);
        }
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(query)) {
            return result.next() ? OptionalDouble.of(result.getDouble(column)) : OptionalDouble.empty();
        }
    }
}
