package io.holdfast.tck;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Validity;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Stands between an engine and a real store: counts what passes, and loses, delays or changes it when told to.
 *
 * <p>Implements exactly the interfaces the real store does, so an engine cannot tell. Thread-safe.
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
        DOWNGRADE;

        private static Optional<Operation> of(String method, Object[] arguments) {
            return switch (method) {
                case "request" -> Optional.of(arguments[1] == Mode.TRY ? TRY : QUEUE);
                case "renew" -> Optional.of(RENEW);
                case "extend" -> Optional.of(EXTEND);
                case "release" -> Optional.of(RELEASE);
                case "withdraw" -> Optional.of(WITHDRAW);
                case "downgrade" -> Optional.of(DOWNGRADE);
                default -> Optional.empty();
            };
        }
    }

    /** One request on its way. */
    public interface Call {

        Operation operation();

        String lockName();

        /** Whose tickets they are: the engine's, which hear what the store reports once the request is answered. */
        List<Ticket> tickets();

        /** Its arguments; what is changed in them is what the store gets. The store has tickets of the tap's own. */
        Object[] arguments();

        /** Lets the store do it. What it reports meanwhile is told when the request is answered, and not if it fails. */
        @Nullable
        Object proceed();

        /** As {@link #proceed}, but asks the store for something else, and reports it as what was asked for. */
        @Nullable
        Object proceedAs(String name, Demand demand, Duration ttl);
    }

    /** What a store says to a ticket. */
    public static final class Report {

        /** What it says. */
        public enum Kind {
            GRANTED,
            WAITING,
            EXTENDED,
            DOWNGRADED,
            FAILING,
            GONE
        }

        private final Kind kind;
        private final TappedTicket to;
        private final boolean push;
        private final Runnable deliver;

        private Report(Kind kind, TappedTicket to, boolean push, Runnable deliver) {
            this.kind = kind;
            this.to = to;
            this.push = push;
            this.deliver = deliver;
        }

        public Kind kind() {
            return kind;
        }

        /** Whether it came by itself, not with the answer to a request. */
        public boolean isPush() {
            return push;
        }

        /** The engine's ticket. */
        public Ticket ticket() {
            return to.outer;
        }

        /** The ticket the store has. */
        public Ticket storesTicket() {
            return to.inner;
        }

        /** Tells the engine's ticket. */
        public void deliver() {
            deliver.run();
        }
    }

    /** What becomes of a report. */
    @FunctionalInterface
    public interface ReportBehaviour {

        void around(Report report);
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
        throw new UnknownOutcomeException(call.lockName(), "the reply was lost by the test");
    };

    /** It gets lost, and nobody knows. */
    public static final Behaviour LOSE_REQUEST = call -> {
        throw new UnknownOutcomeException(call.lockName(), "the request was lost by the test");
    };

    /** It is certainly not done. */
    public static final Behaviour FAIL = call -> {
        throw new StoreUnavailableException(call.lockName(), "cut off by the test");
    };

    private final StoreFactory real;
    private final Map<Operation, Behaviour> behaviours = new ConcurrentHashMap<>();
    private final Map<Operation, AtomicInteger> counts = new ConcurrentHashMap<>();
    private final Map<Operation, Long> lastAnsweredNanos = new ConcurrentHashMap<>();
    private final AtomicInteger pushes = new AtomicInteger();
    /** The request the store answers on this thread: what it reports to its tickets meanwhile is the answer. */
    private final ThreadLocal<@Nullable PassingCall> answering = new ThreadLocal<>();

    private volatile ReportBehaviour reporting = Report::deliver;
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

    /** From now on reports go this way. */
    public StoreTap onReport(ReportBehaviour behaviour) {
        reporting = behaviour;
        return this;
    }

    /** From now on nothing passes in either direction. */
    public void unplug() {
        unplugged = true;
    }

    /** From now on everything passes. */
    public void heal() {
        behaviours.clear();
        reporting = Report::deliver;
        unplugged = false;
    }

    public int count(Operation operation) {
        return counter(operation).get();
    }

    /** How many grants were pushed to waiters. */
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
    LockStore opened() {
        LockStore store = opened;
        if (store == null) {
            throw new IllegalStateException("no client has opened this store yet");
        }
        return store;
    }

    StoreContext context() {
        StoreContext known = context;
        if (known == null) {
            throw new IllegalStateException("no client has opened this store yet");
        }
        return known;
    }

    private @Nullable Object pass(LockStore store, Method method, Object[] arguments) throws Throwable {
        Optional<Operation> known = Operation.of(method.getName(), arguments);
        if (known.isEmpty()) {
            if (unplugged && method.getName().startsWith("view")) {
                throw new StoreUnavailableException("*", "cut off by the test");
            }
            return invoke(store, method, arguments);
        }
        Operation operation = known.get();
        counter(operation).incrementAndGet();
        List<Ticket> tickets = tickets(arguments[0]);
        if (unplugged) {
            throw new StoreUnavailableException(tickets.get(0).name(), "cut off by the test");
        }
        PassingCall call = new PassingCall(operation, tickets, store, method, arguments.clone());
        Object result = behaviours.getOrDefault(operation, Call::proceed).around(call);
        call.reports.forEach(Runnable::run);
        return result;
    }

    private static List<Ticket> tickets(Object argument) {
        return argument instanceof List<?> list
                ? list.stream().map(Ticket.class::cast).toList()
                : List.of((Ticket) argument);
    }

    /** What the store gets in the place of a ticket of the engine's. */
    private Ticket inner(Ticket outer) {
        return outer.handle(TappedTicket.class)
                .map(known -> {
                    if (outer.state() == Ticket.State.ENDED) {
                        known.inner.end();
                    }
                    return known.inner;
                })
                .orElseGet(() -> new TappedTicket(outer, outer.name(), outer.demand(), outer.ttl()).inner);
    }

    private AtomicInteger counter(Operation operation) {
        return counts.computeIfAbsent(operation, unused -> new AtomicInteger());
    }

    private static @Nullable Object invoke(LockStore store, Method method, Object[] arguments) throws Throwable {
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
    static void pause(Duration delay) {
        long end = System.nanoTime() + delay.toNanos();
        for (long left = delay.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private final class PassingCall implements Call {

        private final Operation operation;
        private final List<Ticket> tickets;
        private final LockStore store;
        private final Method method;
        private final Object[] arguments;
        private final List<Runnable> reports = new ArrayList<>();

        PassingCall(Operation operation, List<Ticket> tickets, LockStore store, Method method, Object[] arguments) {
            this.operation = operation;
            this.tickets = tickets;
            this.store = store;
            this.method = method;
            this.arguments = arguments;
            this.arguments[0] = arguments[0] instanceof List
                    ? tickets.stream().map(StoreTap.this::inner).toList()
                    : inner(tickets.get(0));
        }

        @Override
        public Operation operation() {
            return operation;
        }

        @Override
        public String lockName() {
            return tickets.get(0).name();
        }

        @Override
        public List<Ticket> tickets() {
            return tickets;
        }

        @Override
        public Object[] arguments() {
            return arguments;
        }

        @Override
        public @Nullable Object proceedAs(String name, Demand demand, Duration ttl) {
            arguments[0] = new TappedTicket(tickets.get(0), name, demand, ttl).inner;
            return proceed();
        }

        @Override
        public @Nullable Object proceed() {
            answering.set(this);
            try {
                Object result = invoke(store, method, arguments);
                lastAnsweredNanos.put(operation, System.nanoTime());
                return result;
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            } finally {
                answering.remove();
            }
        }
    }

    /** The store's ticket in the place of the engine's, which it tells what it is told. */
    private final class TappedTicket implements Ticket.Listener {

        private final Ticket outer;
        private final Ticket inner;
        private final boolean asAsked;

        TappedTicket(Ticket outer, String name, Demand demand, Duration ttl) {
            this.outer = outer;
            this.asAsked = ttl.equals(outer.ttl());
            boolean same = asAsked && name.equals(outer.name()) && demand.equals(outer.demand());
            Validity validity = new Validity(context().time(), Duration.ZERO);
            this.inner = same
                    ? outer.forNode(this)
                    : new Ticket(name, outer.owner(), demand, ttl, outer.origin(), validity, this);
            outer.attach(this);
        }

        private Duration ttl() {
            return asAsked ? inner.givenTtl() : outer.ttl();
        }

        @Override
        public void granted() {
            long token = inner.storeToken();
            Duration ttl = ttl();
            long base = inner.baseNanos();
            tell(Report.Kind.GRANTED, () -> outer.granted(token, ttl, base));
        }

        @Override
        public void kept() {
            Duration ttl = ttl();
            long base = inner.baseNanos();
            if (inner.state() == Ticket.State.WAITING) {
                tell(Report.Kind.WAITING, () -> outer.waiting(ttl, base));
            } else {
                tell(Report.Kind.EXTENDED, () -> outer.extended(ttl, base));
            }
        }

        @Override
        public void downgraded() {
            tell(Report.Kind.DOWNGRADED, outer::downgraded);
        }

        @Override
        public void failing(LockException cause) {
            tell(Report.Kind.FAILING, () -> outer.failing(cause));
        }

        @Override
        public void ended(Ticket.Ending why) {
            tell(Report.Kind.GONE, () -> outer.gone(why.reason(), why.detail()));
        }

        @Override
        public void unwanted() {
            granted();
        }

        private void tell(Report.Kind kind, Runnable word) {
            PassingCall call = answering.get();
            boolean push = call == null || !call.tickets.contains(outer);
            if (push && kind == Report.Kind.GRANTED) {
                pushes.incrementAndGet();
            }
            Runnable delivery = () -> {
                if (!unplugged) {
                    reporting.around(new Report(kind, this, push, word));
                }
            };
            if (call == null || push) {
                delivery.run();
            } else {
                call.reports.add(delivery);
            }
        }
    }
}
