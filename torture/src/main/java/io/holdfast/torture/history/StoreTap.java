package io.holdfast.torture.history;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.Ticket;
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
import org.jspecify.annotations.Nullable;

/*
 * When was a request sent? The tap reads the clock before it passes a request on; the store reads it again, later but before
 * it sends. Some stores answer a renewal with what an earlier request of the whole session achieved, and then their base is
 * the earlier one. The earlier of both is never later than the truth, whether or not the store tells it; a store that counts
 * from the reply cannot fool it.
 */

/**
 * Stands between a client and its store and writes down what the store answers and pushes.
 *
 * <p>Implements exactly the interfaces the real store does. Thread-safe.
 */
final class StoreTap implements StoreFactory {

    private final Recorder recorder;
    private final StoreFactory real;
    /** By owner, when the request was sent that last extended its place in line. */
    private final Map<OwnerId, Long> waitingSince = new ConcurrentHashMap<>();

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
            case "attempt" -> attempt(store, method, arguments);
            case "enqueue" -> enqueue(store, method, arguments);
            case "renew" -> renew(store, method, arguments);
            case "withdraw" -> {
                waitingSince.remove(((Request) arguments[0]).owner());
                yield invoke(store, method, arguments);
            }
            default -> invoke(store, method, arguments);
        };
    }

    private @Nullable Object attempt(LockStore store, Method method, Object[] arguments) throws Throwable {
        long sent = System.nanoTime();
        return answered(invoke(store, method, arguments), (Request) arguments[0], sent);
    }

    private @Nullable Object enqueue(LockStore store, Method method, Object[] arguments) throws Throwable {
        Request request = (Request) arguments[0];
        long sent = System.nanoTime();
        // Before the call: a push may overtake its answer.
        waitingSince.put(request.owner(), sent);
        arguments[1] = new RecordingListener((TicketListener) arguments[1], request);
        return answered(invoke(store, method, arguments), request, sent);
    }

    private @Nullable Object answered(@Nullable Object answer, Request request, long sent) {
        if (answer instanceof Answer.Granted granted) {
            waitingSince.remove(request.owner());
            granted(granted.grant(), sent);
        } else if (answer instanceof Answer.Queued queued) {
            write(Operation.QUEUED, request, sent, queued.ticket());
        }
        return answer;
    }

    private @Nullable Object renew(LockStore store, Method method, Object[] arguments) throws Throwable {
        List<?> renewals = (List<?>) arguments[0];
        long sent = System.nanoTime();
        Object answers = invoke(store, method, arguments);
        if (answers instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                renewed(((RenewalRequest) renewals.get(i)).claim(), list.get(i), sent);
            }
        }
        return answers;
    }

    private void renewed(Claim claim, Object answer, long sent) {
        Request request = claim.request();
        if (answer instanceof RenewalAnswer.Extended extended) {
            long base = Math.min(sent, extended.baseNanos());
            waitingSince.computeIfPresent(request.owner(), (owner, before) -> Math.max(before, base));
            write(Operation.RENEWED, request, base, extended.ttl());
        } else if (answer instanceof RenewalAnswer.Gone && claim instanceof Ticket) {
            unqueued(request);
        }
    }

    private void granted(Grant grant, long sent) {
        recorder.write(event(Operation.GRANTED, grant.request())
                .token(grant.token() << 10)
                .sent(Math.min(sent, grant.baseNanos()), grant.ttl().toNanos()));
    }

    private void unqueued(Request request) {
        waitingSince.remove(request.owner());
        recorder.write(event(Operation.UNQUEUED, request));
    }

    private void write(Operation operation, Request request, long sent, Ticket ticket) {
        write(operation, request, Math.min(sent, ticket.baseNanos()), ticket.ttl());
    }

    private void write(Operation operation, Request request, long sent, Duration ttl) {
        recorder.write(event(operation, request).sent(sent, ttl.toNanos()));
    }

    private Event.Builder event(Operation operation, Request request) {
        return recorder.event(System.nanoTime(), operation, Phase.OK)
                .lock(request.name())
                .owner(request.owner().toString())
                .demand(request.demand());
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

    private final class RecordingListener implements TicketListener {

        private final TicketListener listener;
        private final Request request;

        RecordingListener(TicketListener listener, Request request) {
            this.listener = listener;
            this.request = request;
        }

        @Override
        public void granted(Grant grant) {
            Long sent = waitingSince.remove(request.owner());
            StoreTap.this.granted(grant, sent == null ? grant.baseNanos() : sent);
            listener.granted(grant);
        }

        @Override
        public void lost(String reason) {
            unqueued(request);
            listener.lost(reason);
        }
    }
}
