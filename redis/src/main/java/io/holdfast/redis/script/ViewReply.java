package io.holdfast.redis.script;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.redis.server.Replies;
import io.holdfast.spi.support.OriginText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the reply of {@code view.lua}. */
public final class ViewReply {

    private static final Pattern HOLDER =
            Pattern.compile("(\\d+) (\\d+) (\\w) (\\d+) (\\d+) \\d+ (\\d+) \\S+ (.*)", Pattern.DOTALL);
    private static final Pattern TICKET =
            Pattern.compile("(\\d+) (\\w) (\\d+) (\\d+) \\d+ (\\d+) \\S+ (.*)", Pattern.DOTALL);
    /** What an owner begins with that has released the lock, which lingers. */
    private static final String NOBODY = "~";

    private ViewReply() {}

    public static LockView read(String name, Object reply) {
        List<?> parts = (List<?>) reply;
        long nowMicros = Long.parseLong(Replies.text(parts.get(0)));
        List<LockView.Holder> holders = switch (Replies.text(parts.get(1))) {
            case "ours" -> holders((List<?>) parts.get(3), nowMicros);
            case "foreign" -> List.of(foreign((Long) parts.get(2)));
            default -> List.of();
        };
        return new LockView(name, holders, waiters((List<?>) parts.get(4), nowMicros));
    }

    private static List<LockView.Holder> holders(List<?> flat, long nowMicros) {
        List<LockView.Holder> holders = new ArrayList<>();
        for (int i = 1; i < flat.size(); i += 2) {
            Matcher packed = HOLDER.matcher(Replies.text(flat.get(i)));
            if (packed.matches() && Long.parseLong(packed.group(1)) > nowMicros) {
                LockView.Holder holder = new LockView.Holder(
                        OriginText.read(packed.group(7)),
                        demand(packed.group(3), packed.group(4), packed.group(5)),
                        Optional.of(Long.parseLong(packed.group(2))),
                        Optional.of(instant(packed.group(6))),
                        Optional.of(Micros.duration(Long.parseLong(packed.group(1)) - nowMicros)));
                holders.add(Replies.text(flat.get(i - 1)).startsWith(NOBODY) ? holder.lingering() : holder);
            }
        }
        holders.sort(Comparator.comparing(holder -> holder.token().orElseThrow()));
        return holders;
    }

    private static LockView.Holder foreign(long pttlMillis) {
        Optional<Duration> timeLeft = pttlMillis < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(pttlMillis));
        return new LockView.Holder(Optional.empty(), Demand.exclusive(), Optional.empty(), Optional.empty(), timeLeft);
    }

    private static List<LockView.Waiter> waiters(List<?> flat, long nowMicros) {
        List<LockView.Waiter> waiters = new ArrayList<>();
        for (int i = 1; i < flat.size(); i += 2) {
            Matcher packed = TICKET.matcher(Replies.text(flat.get(i)));
            if (packed.matches() && Long.parseLong(packed.group(1)) > nowMicros) {
                waiters.add(new LockView.Waiter(
                        OriginText.read(packed.group(6)),
                        demand(packed.group(2), packed.group(3), packed.group(4)),
                        Optional.of(instant(packed.group(5)))));
            }
        }
        return waiters;
    }

    private static Demand demand(String mode, String count, String total) {
        return switch (mode) {
            case "s" -> Demand.shared();
            case "p" -> Demand.permits(Integer.parseInt(count), Integer.parseInt(total));
            default -> Demand.exclusive();
        };
    }

    private static Instant instant(String micros) {
        long value = Long.parseLong(micros);
        return Instant.ofEpochSecond(value / 1_000_000, value % 1_000_000 * 1000);
    }
}
