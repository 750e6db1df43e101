package io.holdfast.redis;

import io.holdfast.Demand;
import io.holdfast.LockView;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the reply of {@code view.lua}. */
final class Views {

    private static final Pattern HOLDER =
            Pattern.compile("(\\d+) (\\d+) (\\w) (\\d+) (\\d+) \\d+ (\\d+) \\S+ (.*)", Pattern.DOTALL);
    private static final Pattern TICKET =
            Pattern.compile("(\\d+) (\\w) (\\d+) (\\d+) \\d+ (\\d+) \\S+ (.*)", Pattern.DOTALL);
    private static final int TOKEN_SCALE = 1024;
    /** What an owner begins with that has released the lock, which lingers. */
    private static final String NOBODY = "~";

    private Views() {}

    static LockView read(String name, Object reply) {
        List<?> parts = (List<?>) reply;
        long nowMicros = Long.parseLong(text(parts.get(0)));
        List<LockView.Holder> holders = switch (text(parts.get(1))) {
            case "ours" -> holders((List<?>) parts.get(3), nowMicros);
            case "foreign" -> List.of(foreign((Long) parts.get(2)));
            default -> List.of();
        };
        return new LockView(name, holders, waiters((List<?>) parts.get(4), nowMicros));
    }

    private static List<LockView.Holder> holders(List<?> flat, long nowMicros) {
        List<LockView.Holder> holders = new ArrayList<>();
        for (int i = 1; i < flat.size(); i += 2) {
            Matcher packed = HOLDER.matcher(text(flat.get(i)));
            if (packed.matches() && Long.parseLong(packed.group(1)) > nowMicros) {
                LockView.Holder holder = new LockView.Holder(
                        Origins.read(packed.group(7)),
                        demand(packed.group(3), packed.group(4), packed.group(5)),
                        Long.parseLong(packed.group(2)) * TOKEN_SCALE,
                        Optional.of(instant(packed.group(6))),
                        Optional.of(micros(Long.parseLong(packed.group(1)) - nowMicros)));
                holders.add(text(flat.get(i - 1)).startsWith(NOBODY) ? holder.lingering() : holder);
            }
        }
        holders.sort(Comparator.comparingLong(LockView.Holder::token));
        return holders;
    }

    private static LockView.Holder foreign(long pttlMillis) {
        Optional<Duration> timeLeft = pttlMillis < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(pttlMillis));
        return new LockView.Holder(Optional.empty(), Demand.exclusive(), 0, Optional.empty(), timeLeft);
    }

    private static List<LockView.Waiter> waiters(List<?> flat, long nowMicros) {
        List<LockView.Waiter> waiters = new ArrayList<>();
        for (int i = 1; i < flat.size(); i += 2) {
            Matcher packed = TICKET.matcher(text(flat.get(i)));
            if (packed.matches() && Long.parseLong(packed.group(1)) > nowMicros) {
                waiters.add(new LockView.Waiter(
                        Origins.read(packed.group(6)),
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

    static Duration micros(long value) {
        return Duration.ofNanos(value * 1000);
    }

    static String text(Object part) {
        return part instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(part);
    }
}
