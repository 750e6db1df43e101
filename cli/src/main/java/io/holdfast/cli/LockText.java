package io.holdfast.cli;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LockView.Origin;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** How a lock's state reads: for people and as JSON. */
final class LockText {

    private LockText() {}

    static void fields(JsonText json, LockView view) {
        json.text("name", view.name())
                .flag("held", view.isHeld())
                .list("holders", view.holders(), LockText::fields)
                .list("waiters", view.waiters(), LockText::fields);
    }

    static void fields(JsonText json, LockView.Holder holder) {
        origin(json, holder.origin());
        demand(json, holder.demand());
        holder.token().ifPresent(json::token);
        json.instant("since", holder.since()).millis("timeLeftMillis", holder.timeLeft());
    }

    private static void fields(JsonText json, LockView.Waiter waiter) {
        origin(json, waiter.origin());
        demand(json, waiter.demand());
        json.instant("since", waiter.since());
    }

    private static void origin(JsonText json, Optional<Origin> origin) {
        origin.ifPresent(who -> json.text("client", who.client())
                .text("host", who.host())
                .number("pid", who.pid())
                .text("thread", who.thread()));
    }

    private static void demand(JsonText json, Demand demand) {
        if (demand instanceof Demand.Permits permits) {
            json.text("demand", "permits").number("permits", permits.count()).number("total", permits.total());
        } else {
            json.text("demand", demand.toString());
        }
    }

    /** Host and process, which is what one needs to find it. */
    static String who(Optional<Origin> origin) {
        return origin.map(who -> who.host() + " pid " + who.pid()).orElse("another program");
    }

    static String whoInFull(Optional<Origin> origin) {
        return origin.map(who ->
                        who.client() + " (host " + who.host() + ", pid " + who.pid() + ", thread " + who.thread() + ")")
                .orElse("another program, which left no name");
    }

    /** To follow what is held; nothing of a foreign holder, which has no token. */
    static String token(LockView.Holder holder) {
        return holder.token().map(token -> ", token " + token).orElse("");
    }

    static String age(Optional<Instant> since) {
        return since.map(then -> span(Duration.between(then, Instant.now()))).orElse("?");
    }

    /** {@code 3.2s}, {@code 4m10s}, {@code 2h05m}, {@code 3d4h}. */
    static String span(Duration duration) {
        Duration d = duration.isNegative() ? Duration.ZERO : duration;
        if (d.toSeconds() < 60) {
            return d.toSeconds() + "." + d.toMillisPart() / 100 + "s";
        }
        if (d.toMinutes() < 60) {
            return d.toMinutes() + "m" + String.format("%02d", d.toSecondsPart()) + "s";
        }
        return d.toHours() < 48
                ? d.toHours() + "h" + String.format("%02d", d.toMinutesPart()) + "m"
                : d.toDays() + "d" + d.toHoursPart() + "h";
    }

    /** Names are any text; control characters must not reach a terminal. */
    static String printable(String name) {
        StringBuilder text = new StringBuilder();
        name.codePoints()
                .forEach(c ->
                        text.append(Character.isISOControl(c) ? String.format("\\u%04x", c) : Character.toString(c)));
        return text.toString();
    }
}
