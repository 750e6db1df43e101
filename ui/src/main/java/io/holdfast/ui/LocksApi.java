package io.holdfast.ui;

import com.sun.net.httpserver.HttpExchange;
import io.holdfast.LockView;
import io.holdfast.ui.http.Query;
import io.holdfast.ui.http.Refusal;
import io.holdfast.ui.http.Replies;
import io.holdfast.ui.instance.Instances;
import io.holdfast.ui.json.JsonText;
import io.holdfast.ui.json.LockJson;
import io.holdfast.ui.watch.Listing;
import io.holdfast.ui.watch.ListingLook;
import io.holdfast.ui.watch.LockLook;
import io.holdfast.ui.watch.LockOrder;
import io.holdfast.ui.watch.Seen;
import io.holdfast.ui.watch.StoreState;
import io.holdfast.ui.watch.StoreWatch.Watched;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** What can be asked for as JSON: the same as the command prints with {@code --json}. */
final class LocksApi {

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);
    private static final Duration OLDEST = Duration.ofSeconds(2);

    private final List<ShownStore> stores;
    private final Instances instances;
    private final DashboardOptions.Release release;
    private final EventStreams streams;

    LocksApi(List<ShownStore> stores, Instances instances, DashboardOptions.Release release, EventStreams streams) {
        this.stores = stores;
        this.instances = instances;
        this.release = release;
        this.streams = streams;
    }

    void answer(HttpExchange exchange, String path, Query query) throws IOException, Refusal {
        switch (path) {
            case "/api/stores" -> Replies.json(exchange, 200, JsonText.array(stores, PageJson::store));
            case "/api/locks" -> locks(exchange, query);
            case "/api/lock" -> lock(exchange, query);
            case "/api/deadlocks" -> deadlocks(exchange, query);
            case "/api/events/overview" -> {
                List<ShownStore> chosen = chosen(query);
                OverviewPage.Choice choice = new OverviewPage.Choice(
                        query.text("prefix").orElse(""),
                        order(query),
                        query.number("offset", 0, 0, 1_000_000),
                        query.number("limit", 50, 1, 500));
                streams.serve(exchange, news -> new OverviewPage(chosen, instances, choice, news));
            }
            case "/api/events/lock" -> {
                ShownStore shown = store(query);
                String name = query.required("name");
                streams.serve(exchange, news -> new LockDetailsPage(shown, name, release, news));
            }
            case "/api/events/blocked" -> {
                List<ShownStore> chosen = chosen(query);
                streams.serve(exchange, news -> new BlockedPage(chosen, news));
            }
            default -> throw Refusal.notFound();
        }
    }

    /** As {@code holdfast ls --json}. */
    private void locks(HttpExchange exchange, Query query) throws IOException, Refusal {
        ShownStore shown = store(query);
        int offset = query.number("offset", 0, 0, 1_000_000);
        int limit = query.number("limit", 1_000_000, 1, 1_000_000);
        LockOrder order = query.text("order").isEmpty() ? LockOrder.NAME : order(query);
        News news = new News();
        try (Watched<ListingLook> watched =
                shown.watch().listing(query.text("prefix").orElse(""), news::tell)) {
            Listing listing = await(
                    shown,
                    news,
                    () -> watched.look()
                            .latest()
                            .filter(latest -> latest.extent() != Listing.Extent.PARTIAL
                                    && isNew(latest.begun().plus(latest.took()))));
            List<LockView> views = listing.locks().values().stream()
                    .sorted(order.comparator())
                    .skip(offset)
                    .limit(limit)
                    .map(Seen::view)
                    .toList();
            exchange.getResponseHeaders().set("Holdfast-Seen", listing.begun().toString());
            exchange.getResponseHeaders()
                    .set("Holdfast-Total", Integer.toString(listing.locks().size()));
            Replies.json(exchange, 200, JsonText.array(views, LockJson::fields));
        }
    }

    /** As {@code holdfast show NAME --json}. */
    private void lock(HttpExchange exchange, Query query) throws IOException, Refusal {
        ShownStore shown = store(query);
        News news = new News();
        try (Watched<LockLook> watched = shown.watch().lock(query.required("name"), news::tell)) {
            Seen seen = await(shown, news, () -> watched.look().latest().filter(latest -> isNew(latest.at())));
            exchange.getResponseHeaders().set("Holdfast-Seen", seen.at().toString());
            Replies.json(exchange, 200, JsonText.object(json -> LockJson.fields(json, seen.view())));
        }
    }

    /** As {@code holdfast deadlocks --json}. */
    private void deadlocks(HttpExchange exchange, Query query) throws IOException, Refusal {
        ShownStore shown = store(query);
        News news = new News();
        try (Watched<ListingLook> watched = shown.watch().listing("", news::tell)) {
            long before = watched.look().latest().map(Listing::number).orElse(0L);
            // A deadlock is one that two walks have seen, both to their end.
            Set<Long> walks = new HashSet<>();
            Listing listing = await(
                    shown,
                    news,
                    () -> watched.look()
                            .latest()
                            .filter(latest -> latest.extent() != Listing.Extent.PARTIAL && latest.number() > before)
                            .filter(latest -> walks.add(latest.number()) && walks.size() == 2));
            Replies.json(exchange, 200, JsonText.array(listing.deadlocks(), LockJson::fields));
        }
    }

    private static boolean isNew(Instant seen) {
        return Duration.between(seen, Instant.now()).compareTo(OLDEST) < 0;
    }

    private static <T> T await(ShownStore shown, News news, Supplier<Optional<T>> looked) throws Refusal {
        long endNanos = System.nanoTime() + LONGEST_WAIT.toNanos();
        try {
            while (System.nanoTime() < endNanos) {
                Optional<T> found = looked.get();
                if (found.isPresent()) {
                    return found.get();
                }
                StoreState state = shown.watch().state();
                if (state.status() == StoreState.Status.DOWN) {
                    throw new Refusal(503, "store-unreachable", state.message());
                }
                news.await(Duration.ofSeconds(1));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new Refusal(503, "store-unreachable", "the store did not answer in time");
    }

    private List<ShownStore> chosen(Query query) throws Refusal {
        return query.text("store").isEmpty() ? stores : List.of(store(query));
    }

    private ShownStore store(Query query) throws Refusal {
        return stores.get(query.number("store", 1, 1, stores.size()) - 1);
    }

    private static LockOrder order(Query query) throws Refusal {
        return LockOrder.of(query.text("order").orElse("heat"))
                .orElseThrow(() -> Refusal.usage("parameter 'order' must be heat, longest, expiry or name"));
    }
}
