package io.holdfast.torture.local;

import io.holdfast.servers.Server;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.nemesis.Healing;
import io.holdfast.torture.nemesis.PlannedFault;
import io.holdfast.torture.stand.Stand;
import io.holdfast.torture.stand.WallClock;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** A store on servers of our own. */
final class ServerStand implements Stand {

    private final List<? extends Server> servers;
    private final Supplier<? extends List<? extends Server>> leaders;
    private final Function<List<InetSocketAddress>, String> uri;
    private final Options options;
    private final Runnable close;

    /**
     * What differs from store to store.
     *
     * @param dialled what clients dial, if not the servers themselves; nothing if they are told by the servers
     * @param failover how long the servers may take to serve again
     * @param clocks the servers' clocks, one each, if they can be set
     * @param troubles faults that orders to the servers bring about
     */
    record Options(
            Optional<List<InetSocketAddress>> dialled,
            Duration failover,
            List<WallClock> clocks,
            Map<Fault, Trouble> troubles) {
        static Options of(Duration failover) {
            return new Options(Optional.empty(), failover, List.of(), Map.of());
        }

        Options notProxied() {
            return withDialled(List.of());
        }

        Options withDialled(List<InetSocketAddress> addresses) {
            return new Options(Optional.of(List.copyOf(addresses)), failover, clocks, troubles);
        }

        Options withClocks(List<WallClock> newClocks) {
            return new Options(dialled, failover, List.copyOf(newClocks), troubles);
        }

        Options withTroubles(Map<Fault, Trouble> newTroubles) {
            return new Options(dialled, failover, clocks, Map.copyOf(newTroubles));
        }
    }

    /** A fault of servers that do as they are told. */
    interface Trouble {
        void begin() throws Exception;

        void end() throws Exception;
    }

    /** @param leaders those without whom the others cannot go on at once; of equals, any minority */
    ServerStand(
            List<? extends Server> servers,
            Supplier<? extends List<? extends Server>> leaders,
            Function<List<InetSocketAddress>, String> uri,
            Options options,
            Runnable close) {
        this.servers = List.copyOf(servers);
        this.leaders = leaders;
        this.uri = uri;
        this.options = options;
        this.close = close;
    }

    @Override
    public List<InetSocketAddress> addresses() {
        return options.dialled()
                .orElseGet(() -> servers.stream().map(Server::address).toList());
    }

    @Override
    public String uri(List<InetSocketAddress> dialled) {
        return uri.apply(dialled);
    }

    @Override
    public Duration failover() {
        return options.failover();
    }

    @Override
    public void close() {
        close.run();
    }

    @Override
    public Optional<Healing> begin(PlannedFault fault) throws Exception {
        return switch (fault.fault()) {
            case SERVER_KILL -> kill(servers);
            case LEADER_KILL -> kill(leaders.get());
            case SERVER_PAUSE -> pause(leaders.get());
            case SERVER_WIPE -> wipe(servers.get(fault.pick("server", servers.size())));
            case SERVER_CLOCK -> step(fault);
            default -> order(fault.fault());
        };
    }

    private Optional<Healing> kill(List<? extends Server> targets) {
        targets.forEach(Server::kill);
        return Optional.of(Healing.of(names(targets), () -> targets.forEach(Server::restart)));
    }

    private Optional<Healing> pause(List<? extends Server> targets) {
        targets.forEach(Server::pause);
        return Optional.of(Healing.of(names(targets), () -> targets.forEach(Server::resume)));
    }

    private Optional<Healing> wipe(Server target) {
        // At once, with no time for anybody to notice: the worst that a server without persistence can do.
        target.restartEmpty();
        return Optional.of(Healing.done(target.name()));
    }

    /** Steps some of the clocks, more often ahead than back, and sets them right again later: another step. */
    private Optional<Healing> step(PlannedFault fault) throws Exception {
        List<WallClock> clocks = options.clocks();
        if (clocks.isEmpty()) {
            return Optional.empty();
        }
        List<WallClock> stepped = new ArrayList<>();
        int count = 1 + fault.pick("count", clocks.size());
        int first = fault.pick("first", clocks.size());
        double seconds = 1 + 9 * fault.fraction("by");
        Duration by = Duration.ofMillis(Math.round((fault.pick("back", 3) == 0 ? -1000 : 1000) * seconds));
        for (int i = 0; i < count; i++) {
            WallClock clock = clocks.get((first + i) % clocks.size());
            clock.set(by);
            stepped.add(clock);
        }
        return Optional.of(Healing.of(count + " of " + clocks.size() + " clocks by " + by, () -> {
            for (WallClock clock : stepped) {
                clock.set(Duration.ZERO);
            }
        }));
    }

    private Optional<Healing> order(Fault fault) throws Exception {
        Trouble trouble = options.troubles().get(fault);
        if (trouble == null) {
            return Optional.empty();
        }
        trouble.begin();
        return Optional.of(Healing.of("servers", trouble::end));
    }

    private static String names(List<? extends Server> targets) {
        return targets.stream().map(Server::name).collect(Collectors.joining(", "));
    }
}
