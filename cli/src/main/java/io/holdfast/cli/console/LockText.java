package io.holdfast.cli.console;

import io.holdfast.LockView;
import io.holdfast.LockView.Origin;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** How a lock's state reads for people. */
public final class LockText {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

    private LockText() {}

    /** Host and process, which is what one needs to find it. */
    public static String who(LockView.Holder holder) {
        String who = holder.origin()
                .map(origin -> Names.visible(origin.host()) + " pid " + origin.pid())
                .orElse(holder.isLingering() ? "a holder" : "another program");
        return holder.isLingering() ? who + " (released)" : who;
    }

    public static String whoInFull(Optional<Origin> origin) {
        return origin.map(who -> Names.visible(who.client() + " (host " + who.host() + ", pid " + who.pid()
                        + ", thread " + who.thread() + ")"))
                .orElse("another program, which left no name");
    }

    /** To follow what is held; nothing of a foreign holder, which has no token. */
    public static String token(LockView.Holder holder) {
        return holder.token().map(token -> ", token " + token).orElse("");
    }

    /** Who has the lock, and since when, or what else keeps it taken: to follow its name. */
    public static String takenText(LockView view) {
        if (view.holders().isEmpty()) {
            return "is taken";
        }
        LockView.Holder first = view.holders().get(0);
        if (first.isLingering()) {
            return "is taken: " + lingeringText(first);
        }
        int others = view.holders().size() - 1;
        return "is taken by " + who(first)
                + first.since().map(then -> " since " + moment(then)).orElse("")
                + (others == 0 ? "" : " and " + others + (others == 1 ? " other" : " others"));
    }

    /** Of a lock whose holder has ended before its shortest time. */
    public static String lingeringText(LockView.Holder holder) {
        return "it was released by "
                + holder.origin().map(any -> whoInFull(holder.origin())).orElse("its holder")
                + " and is kept taken for " + restText(holder) + " (--hold-at-least)";
    }

    public static String restText(LockView.Holder holder) {
        return holder.timeLeft().map(left -> "another " + span(left)).orElse("a while");
    }

    /** By this machine's clock and zone, with how long ago that is. */
    private static String moment(Instant then) {
        LocalDateTime local =
                LocalDateTime.ofInstant(then, ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS);
        boolean today = local.toLocalDate().equals(LocalDate.now());
        return (today ? "" : local.toLocalDate() + " ") + TIME.format(local) + " (" + age(then) + " ago)";
    }

    /** A dash where the store does not keep it, as etcd does not. */
    public static String age(Optional<Instant> since) {
        return since.map(LockText::age).orElse("-");
    }

    /** To follow what is held or waited for; nothing where the store does not keep it. */
    public static String forHowLong(Optional<Instant> since) {
        return since.map(then -> ", for " + age(then)).orElse("");
    }

    private static String age(Instant then) {
        return span(Duration.between(then, Instant.now()));
    }

    /** {@code 3.2s}, {@code 4m10s}, {@code 2h05m}, {@code 3d4h}. */
    public static String span(Duration duration) {
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
}
