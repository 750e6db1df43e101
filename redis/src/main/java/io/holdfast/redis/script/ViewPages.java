package io.holdfast.redis.script;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.redis.server.Replies;
import io.holdfast.spi.support.OriginText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A lock as {@code view.lua} shows it, part by part. Holders and tickets that come and go between two parts may be missing; one that
 * moves on is counted once. Not thread-safe.
 */
public final class ViewPages {

    private static final Pattern HOLDER = Pattern.compile("(\\d+) (\\d+) \\S+ (.*)", Pattern.DOTALL);
    private static final Pattern TICKET = Pattern.compile("(\\w) \\d+ \\S+ (.*)", Pattern.DOTALL);
    private static final Pattern PERMITS = Pattern.compile(".*/(\\d+)/(\\d+)");
    /** What an owner begins with that has released the lock, which lingers. */
    private static final String NOBODY = "~";
    /** As in view.lua. */
    private static final int PAGE = 500;

    private record Waiting(double number, LockView.Waiter waiter) {}

    private final String name;
    private final Map<String, LockView.Holder> holders = new LinkedHashMap<>();
    private final Map<String, Waiting> waiters = new LinkedHashMap<>();
    private String holdersFrom = "1000000000000";
    private String waitersAfter = "-inf";

    public ViewPages(String name) {
        this.name = name;
    }

    /** What view.lua takes to show the next part. */
    public String[] next() {
        return new String[] {holdersFrom, waitersAfter};
    }

    /** Takes what it replied. Returns whether there is more. */
    public boolean add(Object reply) {
        List<?> parts = (List<?>) reply;
        long nowMicros = Long.parseLong(Replies.text(parts.get(0)));
        String mode = Replies.text(parts.get(3));
        List<?> shown = (List<?>) parts.get(4);
        String heldFrom = holdersFrom;
        String waitedAfter = waitersAfter;
        switch (Replies.text(parts.get(1))) {
            case "ours" -> addHolders(shown, mode, nowMicros);
            case "foreign" -> holders.put(mode, foreign((Long) parts.get(2)));
            default -> {}
        }
        List<?> waiting = (List<?>) parts.get(5);
        addWaiters(waiting, nowMicros);
        boolean isFull = shown.size() == 3 * PAGE || waiting.size() == 4 * PAGE;
        return isFull && !(holdersFrom.equals(heldFrom) && waitersAfter.equals(waitedAfter));
    }

    public LockView view() {
        List<LockView.Holder> byToken = new ArrayList<>(holders.values());
        byToken.sort(Comparator.comparing(holder -> holder.token().orElse(0L)));
        List<LockView.Waiter> byNumber = waiters.values().stream()
                .sorted(Comparator.comparingDouble(Waiting::number))
                .map(Waiting::waiter)
                .toList();
        return new LockView(name, byToken, byNumber);
    }

    /** Who holds it, as force.lua takes them. */
    public List<String> holders() {
        return List.copyOf(holders.keySet());
    }

    private void addHolders(List<?> flat, String mode, long nowMicros) {
        for (int i = 0; i < flat.size(); i += 3) {
            String owner = Replies.text(flat.get(i));
            holdersFrom = Replies.text(flat.get(i + 1));
            long leftMicros = (long) Double.parseDouble(holdersFrom) - nowMicros;
            if (leftMicros > 0) {
                Matcher details = HOLDER.matcher(Replies.text(flat.get(i + 2)));
                boolean known = details.matches();
                LockView.Holder holder = new LockView.Holder(
                        known ? OriginText.read(details.group(3)) : Optional.empty(),
                        demand(mode, owner),
                        known ? Optional.of(Long.parseLong(details.group(1))) : Optional.empty(),
                        known ? Optional.of(instant(Long.parseLong(details.group(2)))) : Optional.empty(),
                        Optional.of(Micros.duration(leftMicros)));
                holders.put(owner, owner.startsWith(NOBODY) ? holder.lingering() : holder);
            }
        }
    }

    private static LockView.Holder foreign(long pttlMillis) {
        Optional<Duration> timeLeft = pttlMillis < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(pttlMillis));
        return new LockView.Holder(Optional.empty(), Demand.exclusive(), Optional.empty(), Optional.empty(), timeLeft);
    }

    private void addWaiters(List<?> flat, long nowMicros) {
        for (int i = 0; i < flat.size(); i += 4) {
            String owner = Replies.text(flat.get(i));
            waitersAfter = Replies.text(flat.get(i + 1));
            double expires = Double.parseDouble(Replies.text(flat.get(i + 2)));
            Matcher details = TICKET.matcher(Replies.text(flat.get(i + 3)));
            if (expires > nowMicros && details.matches()) {
                // Its number is when it came. Those moved aside have it with a minus.
                double number = Math.abs(Double.parseDouble(waitersAfter));
                LockView.Waiter waiter = new LockView.Waiter(
                        OriginText.read(details.group(2)), demand(details.group(1), owner), Optional.of(instant((long)
                                number)));
                waiters.put(owner, new Waiting(number, waiter));
            }
        }
    }

    private static Demand demand(String mode, String owner) {
        Matcher permits = PERMITS.matcher(owner);
        if (mode.equals("p") && permits.matches()) {
            return Demand.permits(Integer.parseInt(permits.group(1)), Integer.parseInt(permits.group(2)));
        }
        return mode.equals("s") ? Demand.shared() : Demand.exclusive();
    }

    private static Instant instant(long micros) {
        return Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1000);
    }
}
