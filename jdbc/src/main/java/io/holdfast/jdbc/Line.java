package io.holdfast.jdbc;

import io.holdfast.jdbc.LockSql.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The clients that wait for a lock, in the order they came, as one column of its row keeps them. Immutable.
 *
 * <p>One place is {@code <client><kind><until>}: 32 hex digits, one letter and 16 digits of microseconds, always
 * {@value #PLACE_LENGTH} characters, so that the statement that takes a lock can look at the first place and drop it.
 */
final class Line {

    /*
     * Why clients stand in line although they poll.
     *
     * Whoever releases a lock and wants it again asks at once; everybody else asks at the end of a pause. Without a line the
     * client that has the lock keeps it for as long as it has threads that want it, and a stream of readers keeps a writer
     * out for ever. So a client that waits (a single try does not) leaves its place in the row: nobody takes the lock who is
     * not first, and only the first has to ask often. A place is kept for a second from the last time its client asked;
     * clients that died fall out. The line orders clients, not threads: those have the gate.
     *
     * The line is never needed for exclusion, only for order. A client that lost its place, by a pause or because somebody
     * wiped the column, takes another at the end.
     */

    /** How long a place is kept: several of a waiter's pauses, and what the dead can keep others waiting. */
    static final Duration KEPT = Duration.ofSeconds(1);

    /**
     * A place that is kept for longer than this is from before the server's clock was set back. Longer than places are kept:
     * MySQL's time of a statement is that of its beginning, and while it waited for the row others renewed their places.
     */
    static final Duration LONGEST_KEPT = KEPT.multipliedBy(2);

    static final int PLACE_LENGTH = 49;

    /** Who and how, without until when. */
    static final int WHO_LENGTH = 33;

    static final int CLIENT_LENGTH = 32;

    /** Stands for all clients that queue for a lock's baton (see {@link Relay}), and so is no client's id. */
    static final String RELAY = "relay000000000000000000000000000";

    /** The rest of the clients wait outside, without a place. */
    static final int LONGEST = 250;

    /** What a place holds for: {@code until} is the server's time when it lapses. */
    record Place(String client, Kind kind, long until) {

        String text() {
            return who(client, kind) + "%016d".formatted(until);
        }

        boolean isOf(String otherClient, Kind otherKind) {
            return client.equals(otherClient) && kind == otherKind;
        }
    }

    private final List<Place> places;

    private Line(List<Place> places) {
        this.places = places;
    }

    /** The live places. */
    static Line parse(String text, long now) {
        List<Place> places = new ArrayList<>();
        for (int at = 0; at + PLACE_LENGTH <= text.length(); at += PLACE_LENGTH) {
            long until = Long.parseLong(text.substring(at + WHO_LENGTH, at + PLACE_LENGTH));
            if (isKept(until, now)) {
                String client = text.substring(at, at + CLIENT_LENGTH);
                places.add(new Place(client, Kind.ofLetter(text.charAt(at + CLIENT_LENGTH)), until));
            }
        }
        return new Line(places);
    }

    static boolean isKept(long until, long now) {
        return until > now && until <= now + LockSql.micros(LONGEST_KEPT);
    }

    /** The beginning of a place. */
    static String who(String client, Kind kind) {
        if (client.length() != CLIENT_LENGTH) {
            throw new IllegalArgumentException("not a client id: " + client);
        }
        return client + kind.letter();
    }

    /** Whether it is a client's turn: nobody stands before it but readers before a reader. */
    boolean admits(String client, Kind kind) {
        for (Place place : places) {
            if (place.isOf(client, kind)) {
                return true;
            }
            if (kind != Kind.SHARED || place.kind() != Kind.SHARED) {
                return false;
            }
        }
        return true;
    }

    /** How many stand before the client; the length of the line if it has no place. */
    int ahead(String client, Kind kind) {
        int ahead = 0;
        while (ahead < places.size() && !places.get(ahead).isOf(client, kind)) {
            ahead++;
        }
        return ahead;
    }

    /** When the client's place lapses; 0 if it has none. */
    long placeUntil(String client, Kind kind) {
        return places.stream()
                .filter(place -> place.isOf(client, kind))
                .mapToLong(Place::until)
                .findFirst()
                .orElse(0);
    }

    /** With the client's place kept until then, at the end of the line if it had none. */
    Line with(String client, Kind kind, long until) {
        List<Place> changed = new ArrayList<>(places);
        Place place = new Place(client, kind, until);
        for (int i = 0; i < changed.size(); i++) {
            if (changed.get(i).isOf(client, kind)) {
                changed.set(i, place);
                return new Line(changed);
            }
        }
        if (changed.size() < LONGEST) {
            changed.add(place);
        }
        return new Line(changed);
    }

    Line without(String client, Kind kind) {
        return new Line(
                places.stream().filter(place -> !place.isOf(client, kind)).toList());
    }

    Line withoutClient(String client) {
        return new Line(
                places.stream().filter(place -> !place.client().equals(client)).toList());
    }

    boolean startsWith(String client) {
        return !places.isEmpty() && places.get(0).client().equals(client);
    }

    boolean startsWith(Kind kind) {
        return !places.isEmpty() && places.get(0).kind() == kind;
    }

    /** Whose turn it is when the lock becomes free: the first, and with a reader all readers right behind it. */
    List<String> next() {
        List<String> next = new ArrayList<>();
        for (Place place : places) {
            if (!next.isEmpty() && place.kind() != Kind.SHARED) {
                break;
            }
            next.add(place.client());
            if (place.kind() != Kind.SHARED) {
                break;
            }
        }
        return next;
    }

    /** When the last place lapses; 0 for an empty line. */
    long until() {
        return places.stream().mapToLong(Place::until).max().orElse(0);
    }

    String text() {
        return places.stream().map(Place::text).collect(Collectors.joining());
    }
}
