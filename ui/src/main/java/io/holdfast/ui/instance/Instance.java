package io.holdfast.ui.instance;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;

/** An instance of an application, asked again and again for what it counts. Thread-safe. */
public final class Instance {

    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(3);
    private static final String ENDPOINT = "/holdfast";

    /**
     * What was last seen.
     *
     * @param counts what it told, a client each; what it told before, if it does not answer now
     * @param perSecond acquisitions between the last two answers, by bean
     * @param seen when it answered last
     * @param trouble why it does not answer; empty if it does, or was not asked yet
     */
    public record Seen(
            List<ClientCounts> counts, Map<String, Double> perSecond, Optional<Instant> seen, String trouble) {}

    private final String label;
    private final HttpRequest request;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile long seenNanos;
    private volatile Seen latest = new Seen(List.of(), Map.of(), Optional.empty(), "");

    /** @param actuator the address of its Actuator, or of the endpoint there; with a user and a password if it needs these */
    public Instance(URI actuator) {
        URI plain = withoutUser(actuator);
        this.label = plain.toString();
        HttpRequest.Builder builder = HttpRequest.newBuilder(endpoint(plain)).timeout(LONGEST_ANSWER);
        if (actuator.getUserInfo() != null) {
            byte[] user = actuator.getUserInfo().getBytes(StandardCharsets.UTF_8);
            builder.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(user));
        }
        this.request = builder.header("Accept", "application/json").build();
    }

    /** @throws IllegalArgumentException if it is no address of a web server */
    private static URI withoutUser(URI uri) {
        if (uri.getHost() == null || !List.of("http", "https").contains(uri.getScheme())) {
            throw new IllegalArgumentException(
                    "an Actuator has an address such as http://shop.internal:8080/actuator, not " + uri.getScheme()
                            + ":…");
        }
        return URI.create(uri.getScheme() + "://" + uri.getRawAuthority().replaceFirst(".*@", "")
                + (uri.getRawPath() == null ? "" : uri.getRawPath()));
    }

    private static URI endpoint(URI actuator) {
        String address = actuator.toString().replaceFirst("/+$", "");
        return URI.create(address.endsWith(ENDPOINT) ? address : address + ENDPOINT);
    }

    /** Its address, without credentials. */
    public String label() {
        return label;
    }

    public Seen latest() {
        return latest;
    }

    /** Asks it, unless the last question is still open. */
    void ask(HttpClient client, Runnable news) {
        if (!asked.compareAndSet(false, true)) {
            return;
        }
        CompletableFuture<HttpResponse<byte[]>> answer = client.sendAsync(request, BodyHandlers.ofByteArray());
        // The request's own limit ends with the first line of the answer.
        answer.copy()
                .orTimeout(LONGEST_ANSWER.toMillis(), TimeUnit.MILLISECONDS)
                .thenApply(Instance::counts)
                .whenComplete((counts, failure) -> {
                    answer.cancel(true);
                    latest = failure == null ? next(counts) : without(failure);
                    asked.set(false);
                    news.run();
                });
    }

    private static List<ClientCounts> counts(HttpResponse<byte[]> answer) {
        try {
            if (answer.statusCode() != 200) {
                throw new IOException("it answers with status " + answer.statusCode()
                        + ": is the endpoint 'holdfast' exposed, and may this dashboard read it?");
            }
            return EndpointJson.read(answer.body());
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    private Seen next(List<ClientCounts> counts) {
        long nowNanos = System.nanoTime();
        Seen before = latest;
        double seconds = before.seen.isPresent() ? (nowNanos - seenNanos) / 1e9 : 0;
        seenNanos = nowNanos;
        Map<String, ClientCounts> known =
                before.counts.stream().collect(Collectors.toMap(ClientCounts::bean, Function.identity()));
        Map<String, Double> perSecond = counts.stream()
                .filter(client -> seconds > 0
                        && known.containsKey(client.bean())
                        // Less than before: it was started again.
                        && client.acquired() >= known.get(client.bean()).acquired())
                .collect(Collectors.toMap(
                        ClientCounts::bean,
                        client -> (client.acquired() - known.get(client.bean()).acquired()) / seconds));
        return new Seen(counts, perSecond, Optional.of(Instant.now()), "");
    }

    private Seen without(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        String trouble = cause instanceof TimeoutException || cause.getMessage() == null
                ? "it does not answer"
                : cause.getMessage();
        return new Seen(latest.counts, Map.of(), latest.seen, trouble);
    }
}
