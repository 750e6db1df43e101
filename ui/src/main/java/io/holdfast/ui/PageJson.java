package io.holdfast.ui;

import io.holdfast.ui.json.JsonText;
import io.holdfast.ui.json.LockJson;
import io.holdfast.ui.watch.Listing;
import io.holdfast.ui.watch.Seen;
import io.holdfast.ui.watch.StoreState;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/** What pages show, as JSON, around the locks as the command prints them. */
final class PageJson {

    private PageJson() {}

    /** When it was said, by the clock all ages on the page are counted with. */
    static void now(JsonText json) {
        json.text("now", Instant.now().toString());
    }

    static void store(JsonText json, ShownStore shown) {
        StoreState state = shown.watch().state();
        json.number("id", shown.id())
                .text("store", shown.store().label())
                .text("state", word(state.status()))
                .text("since", state.since().toString())
                .flag("listsWaiters", shown.store().waiters() == WatchedStore.Waiters.LISTED);
        if (!state.message().isEmpty()) {
            json.text("message", state.message());
        }
    }

    static void listing(JsonText json, Optional<Listing> latest) {
        latest.ifPresent(listing -> json.text("seen", listing.begun().toString())
                .text("extent", word(listing.extent()))
                .number("lookMillis", listing.took().toMillis())
                .number("locks", listing.locks().size())
                .number("held", listing.held())
                .number("waiting", listing.waiting())
                .number("deadlocks", listing.deadlocks().size()));
    }

    /** @param most how many holders and waiters of it, at most; the numbers beside it count all */
    static void lock(JsonText json, Seen seen, int most) {
        json.text("seen", seen.at().toString())
                .number("holding", seen.view().holders().size())
                .number("waiting", seen.waiting())
                .object("lock", fields -> LockJson.fields(fields, seen.trimmed(most)));
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
