package io.holdfast.redis;

import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.Waiting;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Grant;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/** Keeps a lock in one hash and its queue in one sorted set; every transition is one script. */
final class RedisStore implements QueueingStore, DowngradingStore, TokenRaisingStore, AdministeredStore {

    /*
     * The protocol, and what would break it.
     *
     * The server holds the truth and its clock decides every expiry; each transition is one script, so there are no
     * interleavings inside Redis. They are all between Redis and us. lock.lua lists what the scripts keep true, Courier what a
     * failed request means, TicketDesk how a grant finds its waiter exactly once. What remains:
     *
     * P1. Holder A expires at the server, B is granted, A still believes. A reckons from just before it sent the last request
     *   the server extended it by, so its deadline comes first, whatever the network did. For a pushed grant that request is
     *   the last heartbeat answered "waiting", not the push: a client stopped for a minute reads an old push the moment it
     *   wakes. That is why a ticket that becomes holder keeps the ticket's expiry at the server, and why the desk, not the
     *   message, supplies the base.
     *   A heartbeat under way when the ticket is granted is answered "held" and has extended the lease: its base counts.
     *
     * P3. Late release: scripts compare the owner, and an owner is one acquisition. A renewal after expiry finds no holder
     *   ("gone"), even if nobody took the lock meanwhile.
     *
     * P4. Nobody polls. A dead holder is noticed by the first in line at the holder's deadline, which answers to enqueues and
     *   heartbeats carry. Holder and first in line may die together (one process), so the next few in line stand in, each a tenth
     *   of a second later. The dead are not counted among the few: eight of them in front would leave nobody to watch. With a live
     *   holder these alarms do not go off: the next heartbeat (every third of a ttl) moves them before. Where a waiter's ttl is
     *   much longer than the holder's, that heartbeat comes too late, so the script that lets a new holder in tells those few by a
     *   message.
     *   A dead waiter: its subscription is gone, so it is passed over at once. If it is half-open or stopped, its subscription
     *   still counts, it becomes holder with what is left of its ticket, and expires with that.
     *   A live waiter whose subscription just broke is passed over too, but keeps its place; its next heartbeat, or the check
     *   after it subscribed again, takes the lock if it is free.
     *
     * P6. Queued first, subscribed then: a release in between reached nobody, and the first wait of a client was passed over. So
     *   who does not listen asks without queueing, since a free lock needs no subscription; refused, it subscribes, and takes
     *   its place only when it can be called. If that does not come soon, it queues all the same, as after a break: late is
     *   better than failed. If the lock moves to another server meanwhile, queue() checks.
     *
     *   A lock moves to another server of a cluster while its waiters listen at the old one. Counting who received a message was
     *   wrong there: a PUBLISH at the new server counted nobody, the cluster carried it to the old one all the same, and the
     *   waiter passed over and the one let in instead held the same token. So the script looks who listens before it grants and
     *   speaks after, and a ticket's channel names the server by which it was written: of those who listen elsewhere it cannot
     *   tell who lives, so they are not passed over.
     *
     * P7. An enqueue whose answer was lost leaves a ticket or a grant nobody here knows. The engine withdraws it by owner. If it
     *   is granted before, the message finds no waiter and the grant is released at once. If the request itself is still on the
     *   way when it is withdrawn, it lapses within its ttl, for nobody heartbeats it.
     *   A waiter that gives up while the push is under way: the desk forgets it first, then the script removes ticket or grant,
     *   whichever it finds; the push then finds nobody and withdraws once more, which finds nothing.
     *
     * Lost messages: checks after every subscription, heartbeats, and the alarms above; each asks by the renew script, which
     * hands the lock over in its answer.
     *
     * What this cannot do: replication is asynchronous. A primary that dies may take grants with it that its successor never
     * saw. `replicas=N` narrows that to what N replicas lose together; fencing tokens catch the rest (docs/stores/redis.md).
     */

    private static final System.Logger LOG = System.getLogger(RedisStore.class.getName());

    /** A script that renews this many locks keeps the server from others for about a millisecond. */
    private static final int RENEWALS_PER_SCRIPT = 250;
    /** So that a check does not come a hair before the expiry it is for. */
    private static final Duration CHECK_SLACK = Duration.ofMillis(5);

    private static final Duration CHECK_AGAIN = Duration.ofMillis(200);
    private static final Duration POLL = Duration.ofMillis(50);

    private final RedisConfig config;
    private final StoreContext context;
    private final Topology topology;
    private final Courier courier;
    private final TicketDesk desk;
    private final Mailbox mailbox;
    private final Census census;

    RedisStore(RedisConfig config, StoreContext context, Topology topology) {
        this.config = config;
        this.context = context;
        this.topology = topology;
        this.courier = new Courier(topology, context, config.timeout(), config.replicas());
        this.desk = new TicketDesk(context);
        this.mailbox = new Mailbox(config.prefix(), context, topology, this::checkLane, this::receive);
        this.census = new Census(config.prefix(), topology, courier);
    }

    @Override
    public StoreTraits traits() {
        return StoreTraits.of(config.store()).withPoll(Waiting.poll().every(POLL));
    }

    @Override
    public String lane(String name) {
        return topology.lane(keys(name).slot());
    }

    @Override
    public Answer attempt(Request request, Deadline deadline) {
        LockKeys keys = keys(request.name());
        Courier.Reply reply = send(Script.ATTEMPT, keys, deadline, Script.demand(request, mailbox.channel()));
        List<?> answer = (List<?>) reply.value();
        if (Views.text(answer.get(0)).equals("held")) {
            return new Answer.Granted(granted(request, answer, reply));
        }
        Duration left = Views.micros(Long.parseLong(Views.text(answer.get(1))));
        return new Answer.Refused(Optional.of(left), "held or waited for by somebody else");
    }

    @Override
    public Answer enqueue(Request request, TicketListener listener, Deadline deadline) {
        LockKeys keys = keys(request.name());
        if (mailbox.mayHearSoon(courier.lane(keys, deadline))) {
            long askedNanos = context.time().nanoTime();
            Answer answer = attempt(request, deadline);
            if (answer instanceof Answer.Granted) {
                return answer;
            }
            long tookNanos = context.time().nanoTime() - askedNanos;
            if (deadline.remainingNanos() >= tookNanos) {
                mailbox.listen(topology.lane(keys.slot()), leavingTimeToQueue(deadline, tookNanos));
            }
            if (deadline.remainingNanos() < tookNanos) {
                // Asking for a place as well would end in not knowing.
                return answer;
            }
        }
        return queue(request, keys, listener, deadline);
    }

    /** Half of what is left, or less where answers take long: a place in line a bit later must not cost the deadline. */
    private Deadline leavingTimeToQueue(Deadline deadline, long answerNanos) {
        long leftNanos = deadline.remainingNanos();
        long waitNanos = Math.min(leftNanos / 2, leftNanos - 2 * answerNanos);
        return deadline.within(Duration.ofNanos(waitNanos)).within(config.timeout());
    }

    private Answer queue(Request request, LockKeys keys, TicketListener listener, Deadline deadline) {
        String lane = courier.lane(keys, deadline);
        long round = mailbox.round(lane);
        // Known before it is sent: the push may be here before the answer.
        TicketDesk.Waiting waiting =
                desk.add(request, keys, listener, context.time().nanoTime());
        Courier.Reply reply;
        try {
            reply = send(Script.ENQUEUE, keys, deadline, Script.demand(request, mailbox.channel()));
        } catch (RuntimeException | Error e) {
            desk.forget(request.owner());
            throw e;
        }
        List<?> answer = (List<?>) reply.value();
        if (Views.text(answer.get(0)).equals("held")) {
            if (reply.repeated()) {
                desk.claimed(request);
            } else {
                desk.forget(request.owner());
            }
            return new Answer.Granted(granted(request, answer, reply));
        }
        waiting.extended(reply.baseNanos());
        watchHolder(waiting, answer, reply);
        mailbox.listen(topology.lane(keys.slot()));
        if (round != mailbox.round(lane) || !lane.equals(topology.lane(keys.slot()))) {
            // A subscription came up and was checked without us, or the lock has moved, and with it its channel.
            context.background().execute(() -> check(waiting));
        }
        return new Answer.Queued(new Ticket(request, request.ttl(), reply.baseNanos()));
    }

    private Grant granted(Request request, List<?> answer, Courier.Reply reply) {
        requireReplicas(request.name(), reply);
        return new Grant(request, Long.parseLong(Views.text(answer.get(1))), request.ttl(), reply.baseNanos());
    }

    private void requireReplicas(String name, Courier.Reply reply) {
        if (reply.replicas() < config.replicas()) {
            throw new UnknownOutcomeException(
                    name, "only " + reply.replicas() + " of " + config.replicas() + " replicas confirmed it in time");
        }
    }

    @Override
    public List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
        return renew(renewals, deadline, (renewal, answer) -> {
            desk.forget(renewal.claim().request().owner());
            return new RenewalAnswer.Gone("the server no longer knows it");
        });
    }

    private interface GoneHandler {
        RenewalAnswer gone(RenewalRequest renewal, List<?> answer);
    }

    private List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline, GoneHandler gone) {
        List<List<RenewalRequest>> batches = batches(renewals);
        List<Courier.Outcome> outcomes = new ArrayList<>();
        if (topology.spansSlots()) {
            batches.forEach(batch -> outcomes.addAll(courier.runAll(List.of(renewal(batch)), deadline)));
        } else {
            outcomes.addAll(courier.runAll(batches.stream().map(this::renewal).toList(), deadline));
        }
        Map<RenewalRequest, RenewalAnswer> answers = new IdentityHashMap<>();
        for (int i = 0; i < batches.size(); i++) {
            List<RenewalAnswer> settled = settle(batches.get(i), outcomes.get(i), gone);
            for (int k = 0; k < settled.size(); k++) {
                answers.put(batches.get(i).get(k), settled.get(k));
            }
        }
        return renewals.stream().map(answers::get).toList();
    }

    /** What one script may renew. */
    private List<List<RenewalRequest>> batches(List<RenewalRequest> renewals) {
        Collection<List<RenewalRequest>> together = topology.spansSlots()
                ? List.of(renewals)
                : renewals.stream()
                        .collect(Collectors.groupingBy(renewal ->
                                keys(renewal.claim().request().name()).slot()))
                        .values();
        return together.stream()
                .flatMap(some -> Courier.chunks(some, RENEWALS_PER_SCRIPT).stream())
                .toList();
    }

    private Courier.Call renewal(List<RenewalRequest> batch) {
        List<String> keys = new ArrayList<>(4 * batch.size());
        List<String> arguments = new ArrayList<>(3 * batch.size());
        int slot = 0;
        for (RenewalRequest renewal : batch) {
            Request request = renewal.claim().request();
            LockKeys of = keys(request.name());
            slot = of.slot();
            keys.addAll(of.all());
            arguments.add(request.owner().toString());
            arguments.add(Script.micros(renewal.ttl()));
            arguments.add(mailbox.channel());
        }
        String name = batch.get(0).claim().request().name();
        return new Courier.Call(Script.RENEW, Node.Urgency.EXTRA, slot, name, keys, arguments);
    }

    private List<RenewalAnswer> settle(List<RenewalRequest> batch, Courier.Outcome outcome, GoneHandler gone) {
        List<RenewalAnswer> answers = new ArrayList<>(batch.size());
        Courier.Reply reply = outcome.reply();
        for (int i = 0; i < batch.size(); i++) {
            if (reply == null) {
                answers.add(new RenewalAnswer.Unsettled(Objects.requireNonNull(outcome.failure())));
            } else {
                answers.add(settle(batch.get(i), (List<?>) ((List<?>) reply.value()).get(i), reply, gone));
            }
        }
        return answers;
    }

    private RenewalAnswer settle(RenewalRequest renewal, List<?> answer, Courier.Reply reply, GoneHandler gone) {
        Request request = renewal.claim().request();
        TicketDesk.Waiting waiting = desk.find(request.owner());
        switch (Views.text(answer.get(0))) {
            case "held" -> {
                if (reply.replicas() < config.replicas()) {
                    return new RenewalAnswer.Unsettled(new UnknownOutcomeException(
                            request.name(), "only " + reply.replicas() + " replicas confirmed the renewal"));
                }
                desk.renewed(request);
                if (waiting != null) {
                    extend(waiting, renewal, reply);
                    desk.deliver(request.owner(), Long.parseLong(Views.text(answer.get(1))));
                }
                mailbox.listen(topology.lane(keys(request.name()).slot()));
                return new RenewalAnswer.Extended(reply.baseNanos(), renewal.ttl());
            }
            case "waiting" -> {
                if (waiting == null && desk.hasDelivered(request.owner())) {
                    // The message of the grant overtook this answer, by which the ticket, and so the grant, was
                    // extended.
                    return new RenewalAnswer.Extended(reply.baseNanos(), renewal.ttl());
                }
                if (waiting == null) {
                    return new RenewalAnswer.Gone("the request was withdrawn");
                }
                extend(waiting, renewal, reply);
                watchHolder(waiting, answer, reply);
                mailbox.listen(topology.lane(waiting.keys().slot()));
                return new RenewalAnswer.Extended(reply.baseNanos(), renewal.ttl());
            }
            case "gone" -> {
                return gone.gone(renewal, answer);
            }
            default -> {
                return new RenewalAnswer.Unsettled(
                        new StoreUnavailableException(request.name(), Views.text(answer.get(1))));
            }
        }
    }

    /** A check extends nothing at the server, so nothing here. */
    private static void extend(TicketDesk.Waiting waiting, RenewalRequest renewal, Courier.Reply reply) {
        if (!renewal.ttl().isZero()) {
            waiting.extended(reply.baseNanos());
        }
    }

    /** Arms the alarm of one who is to watch the holder: the first few in line who live. */
    private void watchHolder(TicketDesk.Waiting waiting, List<?> answer, Courier.Reply reply) {
        if (answer.size() > 1) {
            Duration left = Views.micros(Long.parseLong(Views.text(answer.get(1))));
            long atNanos = context.time().nanoTime() + left.plus(CHECK_SLACK).toNanos();
            desk.checkAsAnswered(waiting, reply.baseNanos(), atNanos, this::check);
        }
    }

    private void checkIn(TicketDesk.Waiting waiting, Duration pause) {
        long nowNanos = context.time().nanoTime();
        desk.checkAsTold(waiting, nowNanos, nowNanos + pause.toNanos(), this::check);
    }

    private void check(TicketDesk.Waiting waiting) {
        checkAll(List.of(waiting), Duration.ZERO);
    }

    /** A subscription is there, again or at last: whatever was announced before went unheard. */
    private void checkLane(String lane) {
        List<TicketDesk.Waiting> unheard = desk.confirmed().stream()
                .filter(waiting -> topology.lane(waiting.keys().slot()).equals(lane))
                .toList();
        if (!unheard.isEmpty()) {
            context.background().execute(() -> checkAll(unheard, Duration.ZERO));
        }
    }

    /**
     * Asks what became of tickets, and takes the lock for one that is next.
     *
     * @param ttl zero to look only: whether a ticket lives on is for the engine's heartbeats to say, a store that kept its
     *     tickets by itself would keep those of a client that has given them up
     */
    private void checkAll(List<TicketDesk.Waiting> all, Duration ttl) {
        List<RenewalRequest> renewals = all.stream()
                .map(waiting -> new RenewalRequest(
                        new Ticket(waiting.request(), waiting.request().ttl(), 0), ttl))
                .toList();
        List<RenewalAnswer> answers =
                renew(renewals, Deadline.after(context.time(), config.timeout()), (renewal, answer) -> {
                    desk.lose(renewal.claim().request().owner(), "the server no longer knows the ticket");
                    return new RenewalAnswer.Gone("lost");
                });
        for (int i = 0; i < answers.size(); i++) {
            if (answers.get(i) instanceof RenewalAnswer.Unsettled) {
                checkIn(all.get(i), CHECK_AGAIN);
            }
        }
    }

    private void receive(Mailbox.Message message) {
        switch (message.kind()) {
            case "granted" -> receiveGrant(message);
            case "watch" -> {
                TicketDesk.Waiting waiting = desk.find(message.owner());
                if (waiting != null) {
                    checkIn(waiting, Views.micros(message.number()).plus(CHECK_SLACK));
                }
            }
            case "forced" ->
                context.losses()
                        .lost(message.owner(), io.holdfast.LossReason.FORCED, "an administrator released it by force");
            default -> LOG.log(System.Logger.Level.DEBUG, "ignoring message " + message.kind());
        }
    }

    private void receiveGrant(Mailbox.Message message) {
        TicketDesk.Waiting waiting = desk.find(message.owner());
        if (waiting != null && config.replicas() > 0) {
            // Counts once the replicas have it too: renew and WAIT on one connection.
            Duration ttl = waiting.request().ttl();
            context.background().execute(() -> checkAll(List.of(waiting), ttl));
        } else if (waiting != null) {
            desk.deliver(message.owner(), message.number());
        } else if (!desk.knows(message.owner())) {
            context.background().execute(() -> giveUp(message));
        }
    }

    /** Its waiter is gone: nobody must wait for this grant to expire. */
    private void giveUp(Mailbox.Message message) {
        LockKeys keys = LockKeys.ofLockKey(config.prefix(), message.key());
        try {
            send(
                    Script.WITHDRAW,
                    keys,
                    Deadline.after(context.time(), config.timeout()),
                    message.owner().toString());
        } catch (LockException e) {
            // Nobody renews it, so it expires.
            LOG.log(System.Logger.Level.DEBUG, "an unwanted grant is left to expire", e);
        }
    }

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        Request request = grant.request();
        desk.forget(request.owner());
        Courier.Reply reply = send(
                Script.RELEASE,
                keys(request.name()),
                deadline,
                request.owner().toString(),
                Script.micros(linger.isNegative() ? Duration.ZERO : linger));
        if ((Long) reply.value() == 1) {
            return ReleaseAnswer.RELEASED;
        }
        if (reply.repeated()) {
            throw new UnknownOutcomeException(
                    request.name(), "the connection broke during the release, and afterwards it was not held");
        }
        return ReleaseAnswer.NOT_HELD;
    }

    @Override
    public Withdrawal withdraw(Request request, Deadline deadline) {
        desk.forget(request.owner());
        Courier.Reply reply = send(
                Script.WITHDRAW, keys(request.name()), deadline, request.owner().toString());
        return (Long) reply.value() == 1 ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    @Override
    public Grant downgrade(Grant exclusive, Deadline deadline) {
        Request old = exclusive.request();
        Courier.Reply reply =
                send(Script.DOWNGRADE, keys(old.name()), deadline, old.owner().toString());
        if ((Long) reply.value() != 1) {
            throw new LeaseLostException(old.name(), exclusive.token(), "the server no longer knows it");
        }
        Request request = new Request(old.name(), old.owner(), Demand.shared(), old.ttl(), old.origin());
        return new Grant(request, exclusive.token(), exclusive.ttl(), exclusive.baseNanos(), exclusive.handle());
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        send(Script.RAISE, keys(name), deadline, String.valueOf(floor));
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        return ((Long) send(Script.FORCE, keys(name), deadline).value()).intValue();
    }

    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return census.prune(idleFor, deadline);
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return Views.read(name, send(Script.VIEW, keys(name), deadline).value());
    }

    @Override
    public List<LockView> views(String prefix, Deadline deadline) {
        return census.views(prefix, deadline);
    }

    @Override
    public void close() {
        mailbox.close();
        topology.close();
    }

    private Courier.Reply send(Script script, LockKeys keys, Deadline deadline, String... arguments) {
        Node.Urgency urgency = switch (script) {
            case ATTEMPT, ENQUEUE, VIEW -> Node.Urgency.SHARED;
            default -> Node.Urgency.EXTRA;
        };
        Courier.Reply reply = courier.run(
                new Courier.Call(script, urgency, keys.slot(), keys.name(), keys.all(), List.of(arguments)), deadline);
        census.inspectOnce(context, config.timeout());
        return reply;
    }

    private LockKeys keys(String name) {
        return LockKeys.of(config.prefix(), name);
    }
}
