package io.holdfast.ui.json;

import io.holdfast.Deadlock;
import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LockView.Origin;
import java.util.Optional;

/** The state of locks as JSON: what {@code --json} of the command prints and what the dashboard's pages are made of. */
public final class LockJson {

    private LockJson() {}

    public static void fields(JsonText json, LockView view) {
        json.text("name", view.name())
                .flag("held", view.isHeld())
                .list("holders", view.holders(), LockJson::fields)
                .list("waiters", view.waiters(), LockJson::fields);
    }

    public static void fields(JsonText json, LockView.Holder holder) {
        origin(json, holder.origin());
        demand(json, holder.demand());
        holder.token().ifPresent(json::token);
        json.instant("since", holder.since()).millis("timeLeftMillis", holder.timeLeft());
        if (holder.isLingering()) {
            json.flag("lingering", true);
        }
    }

    public static void fields(JsonText json, LockView.Waiter waiter) {
        origin(json, waiter.origin());
        demand(json, waiter.demand());
        json.instant("since", waiter.since());
    }

    /** Who waits for what in a circle, each for the next, the last for the first. */
    public static void fields(JsonText json, Deadlock deadlock) {
        json.instant("since", deadlock.since()).list("waits", deadlock.waits(), LockJson::fields);
    }

    private static void fields(JsonText json, Deadlock.Wait wait) {
        json.text("lock", wait.lock()).object("waiter", waiter -> fields(waiter, wait.waiter()));
        wait.holder().ifPresent(holder -> json.object("holder", fields -> fields(fields, holder)));
    }

    private static void origin(JsonText json, Optional<Origin> origin) {
        origin.ifPresent(who -> json.text("client", who.client())
                .text("host", who.host())
                .number("pid", who.pid())
                .text("thread", who.thread()));
        origin.flatMap(Origin::note).ifPresent(note -> json.text("note", note));
        origin.map(Origin::holds).filter(holds -> !holds.isEmpty()).ifPresent(holds -> json.texts("holds", holds));
    }

    private static void demand(JsonText json, Demand demand) {
        if (demand instanceof Demand.Permits permits) {
            json.text("demand", "permits").number("permits", permits.count()).number("total", permits.total());
        } else {
            json.text("demand", demand.toString());
        }
    }
}
