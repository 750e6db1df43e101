package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.jdbc.Connections.Purpose;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.TimeSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Renews many leases with few statements, on the connection kept for that. Thread-safe. */
final class Renewals {

    /** Per statement: few enough that one slow statement leaves time for the others. */
    private static final int LARGEST_BATCH = 250;

    private final Requests requests;
    private final TimeSource time;

    Renewals(Requests requests, TimeSource time) {
        this.requests = requests;
        this.time = time;
    }

    /** Leases that go by the same statement with the same values. */
    private record Sort(boolean alone, Duration ttl) {}

    /** A lease and the place of its answer. */
    private record Item(int index, String name, String owner) {}

    List<RenewalAnswer> renew(List<RenewalRequest> claims, Deadline deadline) {
        RenewalAnswer[] answers = new RenewalAnswer[claims.size()];
        Map<Sort, List<Item>> sorts = new LinkedHashMap<>();
        for (int i = 0; i < claims.size(); i++) {
            RenewalRequest claim = claims.get(i);
            if (claim.claim() instanceof Grant grant) {
                boolean alone = grant.request().demand() instanceof Demand.Exclusive;
                sorts.computeIfAbsent(new Sort(alone, claim.ttl()), sort -> new ArrayList<>())
                        .add(new Item(
                                i,
                                grant.request().name(),
                                grant.request().owner().toString()));
            } else {
                answers[i] = new RenewalAnswer.Gone("this store has no line to wait in");
            }
        }
        sorts.forEach((sort, items) -> {
            // In one order, so that two clients renewing the same shared locks do not deadlock.
            items.sort(Comparator.comparing(Item::name).thenComparing(Item::owner));
            for (int from = 0; from < items.size(); from += LARGEST_BATCH) {
                renewBatch(sort, items.subList(from, Math.min(from + LARGEST_BATCH, items.size())), answers, deadline);
            }
        });
        return Arrays.asList(answers);
    }

    private void renewBatch(Sort sort, List<Item> items, RenewalAnswer[] answers, Deadline deadline) {
        long baseNanos = time.nanoTime();
        try {
            Set<String> kept = sort.alone()
                    ? requests.run(
                            items.get(0).name(),
                            Purpose.RENEWAL,
                            deadline,
                            (session, sql) -> keep(session, sql, sql.renew, sql.stillHeld, sort, items))
                    : requests.transact(items.get(0).name(), Purpose.RENEWAL, deadline, (session, sql) -> {
                        keepCrowds(session, sql, sort, items);
                        return keep(session, sql, sql.renewMembers, sql.membersStillThere, sort, items);
                    });
            for (Item item : items) {
                answers[item.index()] = kept.contains(item.owner())
                        ? new RenewalAnswer.Extended(baseNanos, sort.ttl())
                        : new RenewalAnswer.Gone("its owner no longer has it in the database");
            }
        } catch (LockException e) {
            for (Item item : items) {
                answers[item.index()] = new RenewalAnswer.Unsettled(e);
            }
        }
    }

    /** Rows first, in one order for everybody; then only those extended of which a member is still there. */
    private static void keepCrowds(Session session, LockSql sql, Sort sort, List<Item> items) throws SQLException {
        List<Object> names = names(sql, items);
        session.query(LockSql.forMany(sql.lockRows, items.size()), row -> row.getString(1), names.toArray());
        List<Object> values = new ArrayList<>(List.of(LockSql.micros(sort.ttl())));
        values.addAll(names);
        items.forEach(item -> values.add(item.owner()));
        session.update(LockSql.forMany(sql.renewCrowd, items.size()), values.toArray());
    }

    private static List<Object> names(LockSql sql, List<Item> items) {
        List<Object> names = new ArrayList<>();
        items.forEach(item -> names.add(sql.name(item.name())));
        return names;
    }

    /** Owners are unique, so names and owners need not be paired; names let the server use its index. */
    private static Set<String> keep(
            Session session, LockSql sql, String renew, String stillThere, Sort sort, List<Item> items)
            throws SQLException {
        List<Object> keys = names(sql, items);
        items.forEach(item -> keys.add(item.owner()));
        List<Object> values = new ArrayList<>(List.of(LockSql.micros(sort.ttl())));
        values.addAll(keys);
        int renewed = session.update(LockSql.forMany(renew, items.size()), values.toArray());
        if (renewed == items.size()) {
            Set<String> all = new HashSet<>();
            items.forEach(item -> all.add(item.owner()));
            return all;
        }
        if (renewed == 0) {
            return Set.of();
        }
        return new HashSet<>(
                session.query(LockSql.forMany(stillThere, items.size()), row -> row.getString(1), keys.toArray()));
    }
}
