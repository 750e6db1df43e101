package io.holdfast.ui;

import io.holdfast.ui.instance.Instances;
import io.holdfast.ui.json.JsonText;
import io.holdfast.ui.watch.Listing;
import io.holdfast.ui.watch.ListingLook;
import io.holdfast.ui.watch.LockOrder;
import io.holdfast.ui.watch.Seen;
import io.holdfast.ui.watch.StoreWatch.Watched;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Some locks of some stores, in an order, and how the stores are doing. */
final class OverviewPage implements PageView {

    private static final int MOST_HOLDERS_PER_LOCK = 3;

    /**
     * What is asked for.
     *
     * @param prefix of the names
     * @param offset how many to pass over
     * @param limit how many to show
     */
    record Choice(String prefix, LockOrder order, int offset, int limit) {}

    private record Row(ShownStore shown, Seen lock) {}

    private final Choice choice;
    private final Map<ShownStore, Watched<ListingLook>> looks = new LinkedHashMap<>();
    private final Instances instances;
    private final Runnable noLongerRead;
    private final Map<ShownStore, Long> told = new HashMap<>();

    OverviewPage(List<ShownStore> stores, Instances instances, Choice choice, News news) {
        this.choice = choice;
        this.instances = instances;
        this.noLongerRead = instances.read(news::tell);
        try {
            stores.forEach(shown -> looks.put(shown, shown.watch().listing(choice.prefix(), news::tell)));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    public String event() {
        Map<ShownStore, Optional<Listing>> listings = new LinkedHashMap<>();
        looks.forEach((shown, watched) -> listings.put(shown, watched.look().latest()));
        List<Row> rows = new ArrayList<>();
        listings.forEach((shown, listing) ->
                listing.ifPresent(seen -> seen.locks().values().forEach(lock -> rows.add(new Row(shown, lock)))));
        rows.sort(Comparator.comparing(Row::lock, choice.order().comparator()));
        List<Row> shown =
                rows.stream().skip(choice.offset()).limit(choice.limit()).toList();
        return JsonText.object(json -> {
            PageJson.now(json);
            json.list("stores", List.copyOf(listings.entrySet()), (store, entry) -> {
                PageJson.store(store, entry.getKey());
                PageJson.listing(store, entry.getValue());
            });
            if (!instances.all().isEmpty()) {
                json.list("instances", instances.all(), InstanceJson::fields);
            }
            json.number("total", rows.size())
                    .number("offset", choice.offset())
                    .millis("endedHoldMillis", endedHolds(listings))
                    .list("rows", shown, (row, shownRow) -> {
                        row.number("store", shownRow.shown.id());
                        PageJson.lock(row, shownRow.lock, MOST_HOLDERS_PER_LOCK);
                    });
        });
    }

    /** Of listings this page has not been told yet. */
    private List<Duration> endedHolds(Map<ShownStore, Optional<Listing>> listings) {
        List<Duration> ended = new ArrayList<>();
        listings.forEach((shown, latest) -> latest.ifPresent(listing -> {
            Long before = told.put(shown, listing.number());
            if (before != null && before < listing.number()) {
                ended.addAll(listing.endedHolds());
            }
        }));
        return ended;
    }

    @Override
    public void close() {
        noLongerRead.run();
        looks.values().forEach(Watched::close);
    }
}
