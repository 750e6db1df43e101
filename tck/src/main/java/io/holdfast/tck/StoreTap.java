package io.holdfast.tck;

import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.TicketListener;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
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
        ATTEMPT,
        ENQUEUE,
        RENEW,
        RELEASE,
        WITHDRAW,
        DOWNGRADE;

        private static final Map<String, Operation> BY_METHOD = Map.of(
                "attempt", ATTEMPT,
                "enqueue", ENQUEUE,
                "renew", RENEW,
                "release", RELEASE,
                "withdraw", WITHDRAW,
                "downgrade", DOWNGRADE);
    }

    /** One request on its way. */
    public interface Call {

        Operation operation();

        String lockName();

        /** Its arguments; what is changed in them is what the store gets. */
        Object[] arguments();

        /** Lets the store do it. */
        Object proceed();
    }

    /** What becomes of a request. */
    @FunctionalInterface
    public interface Behaviour {

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

    private Object pass(LockStore store, Method method, Object[] arguments) throws Throwable {
        Operation operation = Operation.BY_METHOD.get(method.getName());
        if (operation == null) {
            if (unplugged && method.getName().startsWith("view")) {
                throw new StoreUnavailableException("*", "cut off by the test");
            }
            return invoke(store, method, arguments);
        }
        counter(operation).incrementAndGet();
        String lock = lockName(arguments[0]);
        if (unplugged) {
            throw new StoreUnavailableException(lock, "cut off by the test");
        }
        if (operation == Operation.ENQUEUE) {
            arguments[1] = new CountedListener((TicketListener) arguments[1]);
        }
        PassingCall call = new PassingCall(operation, lock, store, method, arguments);
        return behaviours.getOrDefault(operation, Call::proceed).around(call);
    }

    private AtomicInteger counter(Operation operation) {
        return counts.computeIfAbsent(operation, unused -> new AtomicInteger());
    }

    private static Object invoke(LockStore store, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(store, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static String lockName(Object argument) {
        if (argument instanceof Request request) {
            return request.name();
        }
        if (argument instanceof Grant grant) {
            return grant.request().name();
        }
        return ((RenewalRequest) ((List<?>) argument).get(0)).claim().request().name();
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
        private final String lockName;
        private final LockStore store;
        private final Method method;
        private final Object[] arguments;

        PassingCall(Operation operation, String lockName, LockStore store, Method method, Object[] arguments) {
            this.operation = operation;
            this.lockName = lockName;
            this.store = store;
            this.method = method;
            this.arguments = arguments;
        }

        @Override
        public Operation operation() {
            return operation;
        }

        @Override
        public String lockName() {
            return lockName;
        }

        @Override
        public Object[] arguments() {
            return arguments;
        }

        @Override
        public Object proceed() {
            try {
                Object answer = invoke(store, method, arguments);
                lastAnsweredNanos.put(operation, System.nanoTime());
                return answer;
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private final class CountedListener implements TicketListener {

        private final TicketListener listener;

        CountedListener(TicketListener listener) {
            this.listener = listener;
        }

        @Override
        public void granted(Grant grant) {
            pushes.incrementAndGet();
            if (!unplugged) {
                listener.granted(grant);
            }
        }

        @Override
        public void lost(String reason) {
            if (!unplugged) {
                listener.lost(reason);
            }
        }
    }
}
