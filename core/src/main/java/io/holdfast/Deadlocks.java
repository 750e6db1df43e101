package io.holdfast;

import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Origin;
import io.holdfast.LockView.Waiter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * A waiter tells which locks its unit of work holds (LockView.Origin.holds). If the view of such a lock shows a holder of the same
 * client, that holder waits, and will not release before its wait is over.
 *
 * Being blocked by somebody who waits is not yet a deadlock: of a semaphore's holders another may release, and a chain of waits
 * ends with somebody who works. So first all who can still be served are sorted out: whoever is not kept out by those that are left
 * is served sooner or later, and so are those behind it, until nothing changes. Nobody who is left can ever be served. Among them
 * everyone waits for another one who is left, so there are circles; whoever nobody waits for is merely behind one. Of what remains
 * the shortest circle through each is reported, once per member.
 *
 * A waiter is kept out by holders it is not compatible with, and by those ahead in the queue it is not compatible with, since
 * stores serve in order. The latter matters only to one whom no holder keeps out: a reader behind a writer that waits for readers.
 */

/** Finds deadlocks in what stores show. A pure function of its argument. */
public final class Deadlocks {

    private final Map<Noted, Unit> noted = new HashMap<>();
    private final Map<Held, List<Unit>> waitingWith = new HashMap<>();
    private final List<Node> left = new ArrayList<>();

    private Deadlocks() {}

    /**
     * Suspected deadlocks among the waiters of these locks; empty if there are none. Give it all views of one store that may be
     * concerned, say {@code holdfast.locks("")}: it finds only what they show. On a store that shows no waiters it finds nothing,
     * nor among the threads of one client that queue inside it.
     */
    public static List<Deadlock> find(List<LockView> views) {
        Deadlocks search = new Deadlocks();
        search.read(views);
        search.dropServable();
        return search.circles();
    }

    /** A client, as far as people can tell one from another. */
    private record ClientOf(String name, String host, long pid) {
        static ClientOf of(Origin origin) {
            return new ClientOf(origin.client(), origin.host(), origin.pid());
        }
    }

    private record Noted(ClientOf client, String note) {}

    private record Held(ClientOf client, String lock) {}

    /** What one unit of work waits for. A thread waits for one lock at a time; those with a note may have futures as well. */
    private static final class Unit {
        private final Origin origin;
        private final List<Node> waits = new ArrayList<>();

        Unit(Origin origin) {
            this.origin = origin;
        }

        boolean isStuck() {
            return waits.stream().anyMatch(node -> node.stuck);
        }

        boolean isOf(Origin holder) {
            return origin.note().equals(holder.note())
                    && (origin.note().isPresent() || origin.thread().equals(holder.thread()));
        }
    }

    /** A holder that waits for something else. */
    private record WaitingHolder(Holder shown, Unit unit) {}

    /** One who waits. */
    private static final class Node {
        private final LockView view;
        private final Waiter waiter;
        private final @Nullable Node ahead;
        private List<WaitingHolder> holders = List.of();
        private boolean stuck = true;

        Node(LockView view, Waiter waiter, @Nullable Node ahead) {
            this.view = view;
            this.waiter = waiter;
            this.ahead = ahead;
        }

        boolean isKeptOut() {
            return isKeptOutByHolders() || (ahead != null && ahead.stuck);
        }

        private boolean isKeptOutByHolders() {
            int taken = 0;
            for (WaitingHolder holder : holders) {
                if (holder.unit.isStuck()) {
                    if (!(waiter.demand() instanceof Demand.Permits)
                            || !(holder.shown.demand() instanceof Demand.Permits permits)) {
                        return true;
                    }
                    taken += permits.count();
                }
            }
            return waiter.demand() instanceof Demand.Permits wanted && wanted.count() > wanted.total() - taken;
        }

        /** Whom it waits for, of those who are left. */
        List<Node> waitsFor() {
            if (isKeptOutByHolders()) {
                return holders.stream()
                        .flatMap(holder -> holder.unit.waits.stream())
                        .filter(node -> node.stuck)
                        .toList();
            }
            return ahead != null && ahead.stuck ? List.of(ahead) : List.of();
        }
    }

    private void read(List<LockView> views) {
        Map<String, List<Node>> queues = new HashMap<>();
        for (LockView view : views) {
            List<Node> queue = new ArrayList<>();
            Node last = null;
            Node lastNotShared = null;
            for (Waiter waiter : view.waiters()) {
                boolean shared = waiter.demand() instanceof Demand.Shared;
                Node node = new Node(view, waiter, shared ? lastNotShared : last);
                last = node;
                lastNotShared = shared ? lastNotShared : node;
                queue.add(node);
                waiter.origin().ifPresent(origin -> addWait(node, origin));
            }
            left.addAll(queue);
            queues.put(view.name(), queue);
        }
        for (LockView view : views) {
            List<WaitingHolder> waiting = waitingHolders(view);
            for (Node node : queues.get(view.name())) {
                boolean shared = node.waiter.demand() instanceof Demand.Shared;
                node.holders = shared
                        ? waiting.stream()
                                .filter(holder -> !(holder.shown.demand() instanceof Demand.Shared))
                                .toList()
                        : waiting;
            }
        }
    }

    private void addWait(Node node, Origin origin) {
        ClientOf client = ClientOf.of(origin);
        Unit unit = origin.note()
                .map(note -> noted.computeIfAbsent(new Noted(client, note), none -> new Unit(origin)))
                .orElseGet(() -> new Unit(origin));
        unit.waits.add(node);
        for (String lock : origin.holds()) {
            List<Unit> holding = waitingWith.computeIfAbsent(new Held(client, lock), none -> new ArrayList<>());
            if (!holding.contains(unit)) {
                holding.add(unit);
            }
        }
    }

    private List<WaitingHolder> waitingHolders(LockView view) {
        List<WaitingHolder> waiting = new ArrayList<>();
        Set<Unit> taken = new HashSet<>();
        for (Holder holder : view.holders()) {
            if (!holder.isLingering()) {
                holder.origin()
                        .flatMap(origin -> unitOf(origin, view.name(), taken))
                        .ifPresent(unit -> {
                            taken.add(unit);
                            waiting.add(new WaitingHolder(holder, unit));
                        });
            }
        }
        return waiting;
    }

    /** Whose lease it is. The store knows the thread of the grant, which may have been handed on inside its client since. */
    private Optional<Unit> unitOf(Origin holder, String lock, Set<Unit> taken) {
        List<Unit> units = waitingWith.getOrDefault(new Held(ClientOf.of(holder), lock), List.of()).stream()
                .filter(unit -> !taken.contains(unit))
                .toList();
        return units.stream()
                .filter(unit -> unit.isOf(holder))
                .findFirst()
                .or(() -> units.stream().findFirst());
    }

    private void dropServable() {
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Node node : left) {
                if (node.stuck && !node.isKeptOut()) {
                    node.stuck = false;
                    changed = true;
                }
            }
        }
        left.removeIf(node -> !node.stuck);
    }

    private List<Deadlock> circles() {
        Map<Node, List<Node>> waitsFor = new IdentityHashMap<>();
        left.forEach(node -> waitsFor.put(node, node.waitsFor()));
        dropThoseNobodyWaitsFor(waitsFor);
        List<Deadlock> found = new ArrayList<>();
        Set<Node> told = new HashSet<>();
        for (Node node : left) {
            if (waitsFor.containsKey(node) && !told.contains(node)) {
                List<Node> circle = shortestCircle(node, waitsFor);
                told.addAll(circle);
                if (!circle.isEmpty()) {
                    found.add(deadlock(circle));
                }
            }
        }
        return found;
    }

    private static void dropThoseNobodyWaitsFor(Map<Node, List<Node>> waitsFor) {
        Map<Node, Integer> waitedForBy = new IdentityHashMap<>();
        waitsFor.values().forEach(blockers -> blockers.forEach(node -> waitedForBy.merge(node, 1, Integer::sum)));
        Deque<Node> behind = new ArrayDeque<>();
        waitsFor.keySet().stream()
                .filter(node -> !waitedForBy.containsKey(node))
                .forEach(behind::add);
        while (!behind.isEmpty()) {
            for (Node blocker : waitsFor.remove(behind.remove())) {
                if (waitedForBy.merge(blocker, -1, Integer::sum) == 0) {
                    behind.add(blocker);
                }
            }
        }
    }

    /** Empty if it merely waits for one circle while another waits for it. */
    private static List<Node> shortestCircle(Node start, Map<Node, List<Node>> waitsFor) {
        Map<Node, Node> cameFrom = new IdentityHashMap<>();
        Deque<Node> next = new ArrayDeque<>(List.of(start));
        while (!next.isEmpty()) {
            Node at = next.remove();
            for (Node blocker : waitsFor.get(at)) {
                if (blocker == start) {
                    Deque<Node> circle = new ArrayDeque<>();
                    for (Node node = at; node != start; node = cameFrom.get(node)) {
                        circle.addFirst(node);
                    }
                    circle.addFirst(start);
                    return List.copyOf(circle);
                }
                if (cameFrom.putIfAbsent(blocker, at) == null) {
                    next.add(blocker);
                }
            }
        }
        return List.of();
    }

    private static Deadlock deadlock(List<Node> circle) {
        List<String> locks = circle.stream().map(node -> node.view.name()).toList();
        List<Deadlock.Wait> waits = new ArrayList<>();
        for (int i = 0; i < circle.size(); i++) {
            Node node = circle.get(i);
            Node next = circle.get((i + 1) % circle.size());
            List<String> holds = node.waiter.origin().map(Origin::holds).orElse(List.of()).stream()
                    .filter(locks::contains)
                    .toList();
            Optional<Holder> holder = node.holders.stream()
                    .filter(waiting -> waiting.unit.waits.contains(next))
                    .map(WaitingHolder::shown)
                    .findFirst();
            waits.add(new Deadlock.Wait(node.view.name(), node.waiter, holds, holder));
        }
        return new Deadlock(waits);
    }
}
