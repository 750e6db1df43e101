package io.holdfast.torture.history;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.Ticket;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Stands between a client and its store and writes down what the store reports.
 *
 * <p>Wherever the engine names one of its tickets, the store gets that of a {@link TappedTicket}. Implements exactly the interfaces
 * the real store does. Thread-safe.
 */
final class StoreTap implements StoreFactory {

    private final Recorder recorder;
    private final StoreFactory real;

    StoreTap(Recorder recorder, StoreFactory real) {
        this.recorder = recorder;
        this.real = real;
    }

    @Override
    public LockStore open(StoreContext context) {
        LockStore store = real.open(context);
        return (LockStore) Proxy.newProxyInstance(
                StoreTap.class.getClassLoader(),
                interfacesOf(store.getClass()).toArray(Class<?>[]::new),
                (proxy, method, arguments) -> pass(store, method, arguments == null ? new Object[0] : arguments));
    }

    private @Nullable Object pass(LockStore store, Method method, Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "request" -> request(store, method, arguments);
            case "renew" -> {
                List<TappedTicket> all =
                        ((List<?>) arguments[0]).stream().map(this::tapped).toList();
                arguments[0] = all.stream().map(TappedTicket::inner).toList();
                yield ask(store, method, arguments, all);
            }
            case "extend", "downgrade" -> ask(store, method, arguments, tapped(arguments[0]));
            case "release", "withdraw" -> {
                TappedTicket tapped = tapped(arguments[0]);
                tapped.end();
                yield ask(store, method, arguments, tapped);
            }
            default -> invoke(store, method, arguments);
        };
    }

    /** Whoever is refused, or not answered, has its ticket ended by the engine at once; the store is to see the same. */
    private @Nullable Object request(LockStore store, Method method, Object[] arguments) throws Throwable {
        TappedTicket tapped = tapped(arguments[0]);
        try {
            Object refusal = ask(store, method, arguments, tapped);
            if (!Optional.empty().equals(refusal)) {
                tapped.end();
            }
            return refusal;
        } catch (Throwable e) {
            tapped.end();
            throw e;
        }
    }

    private TappedTicket tapped(Object ticket) {
        return TappedTicket.of((Ticket) ticket, recorder);
    }

    private static @Nullable Object ask(LockStore store, Method method, Object[] arguments, TappedTicket tapped)
            throws Throwable {
        arguments[0] = tapped.inner();
        return ask(store, method, arguments, List.of(tapped));
    }

    private static @Nullable Object ask(LockStore store, Method method, Object[] arguments, List<TappedTicket> tapped)
            throws Throwable {
        long sent = System.nanoTime();
        tapped.forEach(ticket -> ticket.begin(sent));
        try {
            return invoke(store, method, arguments);
        } finally {
            tapped.forEach(ticket -> ticket.finish(sent));
        }
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
}
