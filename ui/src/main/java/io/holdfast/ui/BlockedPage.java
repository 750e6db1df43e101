package io.holdfast.ui;

import io.holdfast.Deadlock;
import io.holdfast.ui.json.JsonText;
import io.holdfast.ui.json.LockJson;
import io.holdfast.ui.watch.Listing;
import io.holdfast.ui.watch.ListingLook;
import io.holdfast.ui.watch.LockOrder;
import io.holdfast.ui.watch.Seen;
import io.holdfast.ui.watch.StoreWatch.Watched;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Who waits for what, held by whom, and who waits in a circle. */
final class BlockedPage implements PageView {

    private static final int MOST_LOCKS = 100;
    private static final int MOST_PER_LOCK = 20;

    private record Row(ShownStore shown, Seen lock) {}

    private final Map<ShownStore, Watched<ListingLook>> looks = new LinkedHashMap<>();

    BlockedPage(List<ShownStore> stores, News news) {
        try {
            stores.forEach(shown -> looks.put(shown, shown.watch().listing("", news::tell)));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    public String event() {
        Map<ShownStore, Optional<Listing>> listings = new LinkedHashMap<>();
        looks.forEach((shown, watched) -> listings.put(shown, watched.look().latest()));
        List<Row> waitedFor = new ArrayList<>();
        listings.forEach((shown, latest) -> latest.ifPresent(listing -> listing.locks().values().stream()
                .filter(lock -> lock.waiting() > 0)
                .forEach(lock -> waitedFor.add(new Row(shown, lock)))));
        waitedFor.sort(Comparator.comparing(Row::lock, LockOrder.HEAT.comparator()));
        List<Map.Entry<ShownStore, Deadlock>> found = new ArrayList<>();
        listings.forEach((shown, latest) -> latest.ifPresent(
                listing -> listing.deadlocks().forEach(deadlock -> found.add(Map.entry(shown, deadlock)))));
        return JsonText.object(json -> {
            PageJson.now(json);
            json.list("stores", List.copyOf(listings.entrySet()), (store, entry) -> {
                PageJson.store(store, entry.getKey());
                PageJson.listing(store, entry.getValue());
            });
            json.list("deadlocks", found, (circle, entry) -> {
                circle.number("store", entry.getKey().id());
                LockJson.fields(circle, entry.getValue());
            });
            json.number("total", waitedFor.size())
                    .list("rows", waitedFor.stream().limit(MOST_LOCKS).toList(), (row, shownRow) -> {
                        row.number("store", shownRow.shown.id());
                        PageJson.lock(row, shownRow.lock, MOST_PER_LOCK);
                    });
        });
    }

    @Override
    public void close() {
        looks.values().forEach(Watched::close);
    }
}
