package io.holdfast.tck.tap;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.Ticket;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Stands between an engine and a real store: counts what passes, and loses, delays or changes it when told to.
 *
 * <p>Implements exactly the interfaces the real store does, so an engine cannot tell. The store gets tickets of the tap's own
 * ({@link TappedTicket}); what it reports to them is passed on to the engine's. Thread-safe.
 */
public final class StoreTap implements StoreFactory {

    /** What passes through. */
    public enum Operation {
        TRY,
        QUEUE,
        RENEW,
        EXTEND,
        RELEASE,
        WITHDRAW,
        DOWNGRADE,
        VIEW,
        VIEWS,
        PING;

        private static @Nullable Operation of(Method method, Object[] arguments) {
            return switch (method.getName()) {
                case "request" -> arguments[1] == LockStore.Mode.TRY ? TRY : QUEUE;
                case "renew" -> RENEW;
                case "extend" -> EXTEND;
                case "release" -> RELEASE;
                case "withdraw" -> WITHDRAW;
                case "downgrade" -> DOWNGRADE;
                case "view" -> VIEW;
                case "views" -> VIEWS;
                case "ping" -> PING;
                default -> null;
            };
        }

        /** Whether it only looks, and so is never applied. */
        boolean onlyLooks() {
            return this == VIEW || this == VIEWS || this == PING;
        }

        /** Whether the engine has ended the ticket before. */
        private boolean endsTicket() {
            return this == RELEASE || this == WITHDRAW;
        }
    }

    /** One request on its way. */
    public interface Call {

        Operation operation();

        /** The engine's tickets; none for what only looks. */
        List<Ticket> tickets();

        /** The engine's ticket; the first one of several. */
        default Ticket ticket() {
            return tickets().get(0);
        }

        default String lockName() {
            return tickets().isEmpty() ? "*" : ticket().name();
        }

        /** Its arguments, with the tap's tickets; what is changed in them is what the store gets. */
        @Nullable
        Object[] arguments();

        /**
         * Lets the store do it. What the store reports to the tickets meanwhile is its answer: it reaches the engine when the
         * behaviour returns, and never if that throws. What it reports at other times reaches the engine at once.
         */
        @Nullable
        Object proceed();
    }

    /** What becomes of a request. */
    @FunctionalInterface
    public interface Behaviour {

        @Nullable
        Object around(Call call);
    }

    /** The store does it, the answer is lost. */
    public static final Behaviour LOSE_REPLY = call -> {
        call.proceed();
        throw lost(call, "the reply was lost by the test");
    };

    /** It gets lost, and nobody knows. */
    public static final Behaviour LOSE_REQUEST = call -> {
        throw lost(call, "the request was lost by the test");
    };

    /** It is certainly not done. */
    public static final Behaviour FAIL = call -> {
        throw new StoreUnavailableException(call.lockName(), "cut off by the test");
    };

    /**
     * What the store is asked for.
     *
     * @param name the lock
     * @param demand how it is to be held
     * @param ttl for how long
     */
    public record Asked(String name, Demand demand, Duration ttl) {}

    private final StoreFactory real;
    private final Map<Operation, Behaviour> behaviours = new ConcurrentHashMap<>();
    private final Map<Operation, AtomicInteger> counts = new ConcurrentHashMap<>();
    private final Map<Operation, Long> lastAnsweredNanos = new ConcurrentHashMap<>();
    private final AtomicInteger pushes = new AtomicInteger();
    private volatile UnaryOperator<Asked> disguise = UnaryOperator.identity();
    private volatile Consumer<Report> wayOfReports = Report::deliver;
    private volatile boolean unplugged;
    private volatile @Nullable LockStore opened;
    private volatile @Nullable StoreContext context;

    public StoreTap(StoreFactory real) {
        this.real = real;
    }

    /** The answer comes this much later than the store gave it. */
    public static Behaviour delayReply(Duration delay) {
        return call -> {
            Object answer = call.proceed();
            pause(delay);
            return answer;
        };
    }

    /** The behaviour for the first request only. */
    public static Behaviour once(Behaviour behaviour) {
        AtomicBoolean used = new AtomicBoolean();
        return call -> used.compareAndSet(false, true) ? behaviour.around(call) : call.proceed();
    }

    @Override
    public LockStore open(StoreContext newContext) {
        LockStore store = real.open(newContext);
        LockStore tapped = (LockStore) Proxy.newProxyInstance(
                StoreTap.class.getClassLoader(),
                interfacesOf(store.getClass()).toArray(Class<?>[]::new),
                (proxy, method, arguments) -> pass(store, method, arguments == null ? new Object[0] : arguments));
        context = newContext;
        opened = tapped;
        return tapped;
    }

    /** From now on requests of that kind go this way. */
    public StoreTap on(Operation operation, Behaviour behaviour) {
        behaviours.put(operation, behaviour);
        return this;
    }

    /** From now on the store is asked for that instead of what the engine asks for. */
    public StoreTap asking(UnaryOperator<Asked> newDisguise) {
        disguise = newDisguise;
        return this;
    }

    /** From now on what the store reports goes this way. */
    public StoreTap onReport(Consumer<Report> newWay) {
        wayOfReports = newWay;
        return this;
    }

    /** From now on nothing passes in either direction. */
    public void unplug() {
        unplugged = true;
    }

    /** From now on everything passes. */
    public void heal() {
        behaviours.clear();
        unplugged = false;
    }

    public int count(Operation operation) {
        return counter(operation).get();
    }

    /** How many waiters were granted. */
    public int pushes() {
        return pushes.get();
    }

    /** When the store last answered a request of that kind, in {@code nanoTime} terms. */
    public long lastAnsweredNanos(Operation operation) {
        Long at = lastAnsweredNanos.get(operation);
        if (at == null) {
            throw new IllegalStateException("no " + operation + " was answered yet");
        }
        return at;
    }

    /** The store last opened, as its engine sees it. */
    public LockStore opened() {
        LockStore store = opened;
        if (store == null) {
            throw new IllegalStateException("no client has opened this store yet");
        }
        return store;
    }

    public StoreContext context() {
        StoreContext known = context;
        if (known == null) {
            throw new IllegalStateException("no client has opened this store yet");
        }
        return known;
    }

    private @Nullable Object pass(LockStore store, Method method, Object[] arguments) throws Throwable {
        Operation operation = Operation.of(method, arguments);
        if (operation == null) {
            return invoke(store, method, arguments);
        }
        counter(operation).incrementAndGet();
        List<Ticket> tickets = operation.onlyLooks() ? List.of() : ticketsOf(arguments[0]);
        PassingCall call = new PassingCall(operation, tickets, store, method, arguments);
        Behaviour behaviour = unplugged ? FAIL : behaviours.get(operation);
        return behaviour == null ? call.passStraight() : call.passBy(behaviour);
    }

    private TappedTicket tapped(Ticket engines) {
        return TappedTicket.of(
                engines,
                ticket -> new TappedTicket(
                        ticket,
                        disguise.apply(new Asked(ticket.name(), ticket.demand(), ticket.ttl())),
                        context().time(),
                        this));
    }

    /** A waiter was granted. */
    void countPush() {
        pushes.incrementAndGet();
    }

    public void pass(Report report) {
        if (!unplugged) {
            wayOfReports.accept(report);
        }
    }

    private AtomicInteger counter(Operation operation) {
        return counts.computeIfAbsent(operation, unused -> new AtomicInteger());
    }

    private static LockException lost(Call call, String how) {
        return call.operation().onlyLooks()
                ? new StoreUnavailableException(call.lockName(), how)
                : new UnknownOutcomeException(call.lockName(), how);
    }

    private static List<Ticket> ticketsOf(Object argument) {
        return argument instanceof Ticket ticket
                ? List.of(ticket)
                : ((List<?>) argument).stream().map(Ticket.class::cast).toList();
    }

    private static @Nullable Object invoke(LockStore store, Method method, @Nullable Object[] arguments)
            throws Throwable {
        try {
            return method.invoke(store, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static Set<Class<?>> interfacesOf(@Nullable Class<?> type) {
        Set<Class<?>> found = new LinkedHashSet<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Class<?> one : each.getInterfaces()) {
                if (LockStore.class.isAssignableFrom(one)) {
                    found.add(one);
                }
                found.addAll(interfacesOf(one));
            }
        }
        return found;
    }

    /** A delay on the way; not a wait for something to happen. */
    public static void pause(Duration delay) {
        long end = System.nanoTime() + delay.toNanos();
        for (long left = delay.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private final class PassingCall implements Call {

        private final Operation operation;
        private final List<Ticket> engines;
        private final List<TappedTicket> tapped;
        private final LockStore store;
        private final Method method;
        private final @Nullable Object[] arguments;

        PassingCall(Operation operation, List<Ticket> engines, LockStore store, Method method, Object[] arguments) {
            this.operation = operation;
            this.engines = engines;
            this.tapped = engines.stream().map(StoreTap.this::tapped).toList();
            this.store = store;
            this.method = method;
            this.arguments = Arrays.copyOf(arguments, arguments.length);
            if (!operation.onlyLooks()) {
                List<Ticket> atStore = tapped.stream()
                        .map(ticket -> operation.endsTicket() ? ticket.endedAtStore() : ticket.atStore())
                        .toList();
                this.arguments[0] = operation == Operation.RENEW ? atStore : atStore.get(0);
            }
        }

        /** What the store reports goes on at once, also before it has answered. */
        @Nullable
        Object passStraight() throws Throwable {
            Object answer = invoke(store, method, arguments);
            answered();
            tapped.forEach(TappedTicket::catchUp);
            return answer;
        }

        @Nullable
        Object passBy(Behaviour behaviour) {
            boolean arrives = false;
            try {
                Object answer = behaviour.around(this);
                arrives = true;
                return answer;
            } finally {
                for (TappedTicket ticket : tapped) {
                    ticket.settleAnswer(arrives);
                }
            }
        }

        @Override
        public Operation operation() {
            return operation;
        }

        @Override
        public List<Ticket> tickets() {
            return engines;
        }

        @Override
        public @Nullable Object[] arguments() {
            return arguments;
        }

        @Override
        public @Nullable Object proceed() {
            tapped.forEach(TappedTicket::beginAnswer);
            try {
                Object answer = invoke(store, method, arguments);
                answered();
                return answer;
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            } finally {
                tapped.forEach(TappedTicket::endAnswer);
            }
        }

        private void answered() {
            lastAnsweredNanos.put(operation, System.nanoTime());
        }
    }
}
