package io.holdfast.redis;

import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.Waiting;
import io.holdfast.redis.channel.ClientChannels;
import io.holdfast.redis.channel.Message;
import io.holdfast.redis.script.KnownKeys;
import io.holdfast.redis.script.LockKeys;
import io.holdfast.redis.script.Micros;
import io.holdfast.redis.script.Script;
import io.holdfast.redis.script.ScriptCalls;
import io.holdfast.redis.script.ScriptReply;
import io.holdfast.redis.script.TicketAnswer;
import io.holdfast.redis.script.TicketAnswer.Kind;
import io.holdfast.redis.server.FailoverPause;
import io.holdfast.redis.server.Failures;
import io.holdfast.redis.server.Node;
import io.holdfast.redis.server.ServerCommands;
import io.holdfast.redis.server.Topology;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import redis.clients.jedis.exceptions.JedisException;

/** Keeps a lock in one key and its queue in a few more; every transition is one script. */
final class RedisStore implements DowngradingStore, TokenRaisingStore, AdministeredStore {

    /*
     * The protocol, and what would break it.
     *
     * The server holds the truth and its clock decides every expiry; each transition is one script, so there are no
     * interleavings inside Redis. They are all between Redis and us. lock.lua lists what the scripts keep true, ScriptCalls what a
     * failed request means. A grant reaches its ticket on one of four ways, which race: as a message, in the reply to the release
     * that let it in if that was its own client's, in the answer to a heartbeat, or in the answer to a check (after a
     * resubscription, or at the holder's deadline). The ticket takes the first and bears the others. What remains:
     *
     * P1. Holder A expires at the server, B is granted, A still believes. A reckons from just before it sent the last request
     *   the server extended it by, so its deadline comes first, whatever the network did. For a pushed grant that request is
     *   the last heartbeat answered "waiting", not the push: a client stopped for a minute reads an old push the moment it
     *   wakes. That is why a ticket that becomes holder keeps the ticket's expiry at the server, and why the message says
     *   nothing about time.
     *   A heartbeat under way when the ticket is granted has extended the lease, whether it is answered "waiting" or "held".
     *
     * P3. Late release: scripts compare the owner, and an owner is one acquisition. A renewal after expiry finds no holder
     *   ("gone"), even if nobody took the lock meanwhile.
     *
     * P4. Nobody polls. Who waits is told the earliest moment at which a holder, or somebody else who waits, may be gone, and looks
     *   then. Of several holders that is the first to expire: a longer-lived one may leave meanwhile. Of those who wait it may be any:
     *   one that was moved aside may be back, ahead of us, before we ask again. Heartbeats only move on, and a ticket that becomes
     *   holder keeps the expiry it had, so whoever gets the lock later lives at least until then: nobody has to be told of a new
     *   holder, however short its ttl. The first in the queue looks at once, the others 0.4 to 0.7 s later, for the first may have
     *   died with the holder. Of one client only the oldest ticket of a lock asks. With equal ttls these alarms do not go off while all live: the next heartbeat
     *   (every third of a ttl) moves them before. Only a lock that lingers may be free sooner than it was said; the first few are
     *   told.
     *   A dead waiter: its subscription is gone, so it is moved aside when it is first. If it is half-open or stopped, its
     *   subscription still counts, it becomes holder with what is left of its ticket, and expires with that.
     *   A live waiter whose subscription just broke is moved aside too, but keeps its number; its next heartbeat, or the check
     *   after it subscribed again, puts it back, and takes the lock if it is free.
     *
     * P5. Forced: told by a message, so holders listen too, soon after a grant that lasts. What the message missed, a check after the
     *   subscription finds, or the next renewal; the script leaves a note, so that the reason is right.
     *
     * P6. Queued first, subscribed then: a release in between reached nobody, and the first wait of a client was passed over. So
     *   who does not listen asks without queueing, since a free lock needs no subscription; refused, it subscribes, and takes
     *   its place only when it can be called. If that does not come soon, it queues all the same, as after a break: late is
     *   better than failed. If the lock moves to another server meanwhile, join() checks.
     *
     *   A lock moves to another server of a cluster while its waiters listen at the old one. Counting who received a message was
     *   wrong there: a PUBLISH at the new server counted nobody, the cluster carried it to the old one all the same, and the
     *   waiter passed over and the one let in instead held the same token. So the script looks who listens before it grants and
     *   speaks after, and a ticket's channel names the server by which it was written: of those who listen elsewhere it cannot
     *   tell who lives, so they are not passed over.
     *
     * P7. An enqueue whose answer was lost leaves a ticket or a grant. The engine withdraws it by owner. If it is granted before,
     *   the message finds no live ticket and the grant is released at once. If the request itself is still on the way when it
     *   is withdrawn, it lapses within its ttl, for nobody heartbeats it.
     *   A ticket is known here before its request is sent, for the message may come before the answer. Until that answer it is
     *   not checked: the check might overtake the enqueue, find nothing and declare the ticket gone. If a subscription comes up
     *   meanwhile, whose check left this ticket out, join() notices afterwards and checks (see ClientChannels.subscriptions).
     *
     * Lost messages: checks after every subscription, heartbeats, and the alarms above; each asks by the heartbeat script, which
     * hands the lock over in its answer. A lost reply to a release: its client checks those that wait whenever a release fails, was
     * sent twice, or finds nothing held; the engine repeats one whose outcome is unknown. A client that dies before it reads the
     * reply takes the ticket with it.
     *
     * What this cannot do: replication is asynchronous. A primary that dies may take grants with it that its successor never
     * saw. `replicas=N` narrows that to what N replicas lose together; fencing tokens catch the rest (docs/stores/redis.md).
     */

    private static final System.Logger LOG = System.getLogger(RedisStore.class.getName());

    private static final Duration POLL = Duration.ofMillis(50);

    private final RedisConfig config;
    private final StoreContext context;
    private final Topology topology;
    private final ScriptCalls calls;
    private final KnownKeys knownKeys;
    private final ServerCommands commands;
    private final ClientChannels channels;
    private final LiveTickets tickets = new LiveTickets();
    private final Renewals renewals;
    private final Releases releases;
    private final HolderSubscription holderSubscription;
    private final KeyWalk keyWalk;
    private final EvictionWarning evictionWarning;

    RedisStore(RedisConfig config, StoreContext context, Topology topology) {
        this.config = config;
        this.context = context;
        this.topology = topology;
        FailoverPause failover = new FailoverPause(topology, context.time());
        this.calls = new ScriptCalls(
                topology,
                failover,
                context,
                config.timeout(),
                config.replicas(),
                config.counterLife(),
                this::reconnectSubscriber);
        this.knownKeys = new KnownKeys(config.prefix());
        this.commands = new ServerCommands(topology, failover, config.timeout());
        this.channels = new ClientChannels(config.prefix(), context, topology, this::checkServer, this::receive);
        this.renewals = new Renewals(config, context, topology, calls, knownKeys, channels, tickets);
        this.releases = new Releases(config, context, calls, knownKeys, tickets, renewals, this::receive);
        this.holderSubscription = new HolderSubscription(context, this::listenForHolders);
        this.keyWalk = new KeyWalk(config.prefix(), topology, calls, commands);
        this.evictionWarning = new EvictionWarning(context, topology, commands, config.timeout());
    }

    @Override
    public StoreTraits traits() {
        return StoreTraits.of(config.store()).withPoll(Waiting.poll().every(POLL));
    }

    @Override
    public String server(String name) {
        return topology.serverOf(knownKeys.of(name).slot());
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        LockKeys keys = knownKeys.of(ticket);
        if (mode == Mode.QUEUE) {
            ticket.attach(new HolderCheck(context, () -> renewals.checkSoon(ticket)));
        }
        tickets.add(ticket);
        try {
            Optional<Refusal> refusal =
                    mode == Mode.QUEUE ? queue(ticket, keys, deadline) : attempt(ticket, keys, deadline);
            if (refusal.isPresent()) {
                tickets.forget(ticket);
            }
            evictionWarning.lookOnce();
            return refusal;
        } catch (RuntimeException | Error e) {
            tickets.forget(ticket);
            throw e;
        }
    }

    private Optional<Refusal> attempt(Ticket ticket, LockKeys keys, Deadline deadline) {
        String[] demand = Script.demand(ticket, channels.nameForScripts());
        while (true) {
            ScriptReply reply = calls.run(Script.ATTEMPT, keys, deadline, demand);
            TicketAnswer answer = reply.ticket();
            if (answer.kind() == Kind.HELD) {
                grant(ticket, answer, reply);
                return Optional.empty();
            }
            if (answer.kind() != Kind.AGAIN || deadline.hasPassed()) {
                return Optional.of(new Refusal(answer.time(), "held or waited for by somebody else"));
            }
        }
    }

    private Optional<Refusal> queue(Ticket ticket, LockKeys keys, Deadline deadline) {
        if (channels.couldHearSoon(calls.serverOf(keys, deadline))) {
            long askedNanos = context.time().nanoTime();
            Optional<Refusal> refusal = attempt(ticket, keys, deadline);
            if (refusal.isEmpty()) {
                return refusal;
            }
            long tookNanos = context.time().nanoTime() - askedNanos;
            if (deadline.remainingNanos() >= tookNanos) {
                channels.listen(topology.serverOf(keys.slot()), leavingTimeToJoin(deadline, tookNanos));
            }
            if (deadline.remainingNanos() < tookNanos) {
                // Asking for a place as well would end in not knowing.
                return refusal;
            }
        }
        join(ticket, keys, deadline);
        return Optional.empty();
    }

    /** Half of what is left, or less where answers take long: a place in the queue a bit later must not cost the deadline. */
    private Deadline leavingTimeToJoin(Deadline deadline, long answerNanos) {
        long leftNanos = deadline.remainingNanos();
        long waitNanos = Math.min(leftNanos / 2, leftNanos - 2 * answerNanos);
        return deadline.within(Duration.ofNanos(waitNanos)).within(config.timeout());
    }

    /** Takes the lock, or the last place in its queue. */
    private void join(Ticket ticket, LockKeys keys, Deadline deadline) {
        String server = calls.serverOf(keys, deadline);
        long subscriptions = channels.subscriptions(server);
        ScriptReply reply = calls.run(Script.ENQUEUE, keys, deadline, Script.demand(ticket, channels.nameForScripts()));
        TicketAnswer answer = reply.ticket();
        if (answer.kind() == Kind.HELD) {
            grant(ticket, answer, reply);
            return;
        }
        ticket.waiting(ticket.ttl(), reply.baseNanos());
        tickets.waits(ticket);
        renewals.watchHolder(ticket, answer, reply);
        channels.listen(topology.serverOf(keys.slot()));
        if (subscriptions != channels.subscriptions(server) || !server.equals(topology.serverOf(keys.slot()))) {
            // A subscription came up and was checked without us, or the lock has moved, and with it its channel.
            renewals.checkSoon(ticket);
        }
    }

    private void grant(Ticket ticket, TicketAnswer answer, ScriptReply reply) {
        if (reply.replicas() < config.replicas()) {
            throw new UnknownOutcomeException(
                    ticket.name(),
                    "only " + reply.replicas() + " of " + config.replicas() + " replicas confirmed it in time");
        }
        ticket.granted(answer.token(), ticket.ttl(), reply.baseNanos());
        holderSubscription.granted();
    }

    @Override
    public void renew(List<Ticket> all, Deadline deadline) {
        renewals.renew(all, deadline);
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        renewals.extend(ticket, ttl, deadline);
    }

    /** A subscription is there, again or at last: whatever was announced before went unheard. */
    private void checkServer(String server) {
        List<Ticket> unheard = Stream.concat(tickets.held().stream(), tickets.queued().stream())
                .filter(ticket -> server(ticket.name()).equals(server))
                .toList();
        if (!unheard.isEmpty()) {
            context.background().execute(() -> renewals.check(unheard));
        }
    }

    /** Listens where something is held. Returns whether that is everywhere: there is only one server. */
    private boolean listenForHolders() {
        List<Ticket> held = tickets.held();
        held.stream().map(ticket -> server(ticket.name())).distinct().forEach(channels::listen);
        return !held.isEmpty() && topology.spansSlots();
    }

    /** What that address leads to now may be another server, where nobody would hear us. */
    private void reconnectSubscriber(Node node) {
        channels.reconnect(node);
    }

    private void receive(Message message) {
        Optional<Ticket> ticket = tickets.find(message.owner());
        switch (message.kind()) {
            case "granted" ->
                ticket.ifPresentOrElse(
                        known -> receiveGrant(known, message.number()),
                        () -> context.background().execute(() -> releases.giveBack(message)));
            case "watch" -> ticket.ifPresent(known -> renewals.checkIn(known, Micros.duration(message.number())));
            case "forced" ->
                ticket.ifPresent(known -> {
                    tickets.forget(known);
                    known.gone(LossReason.FORCED, "an administrator released it by force");
                });
            default -> LOG.log(System.Logger.Level.DEBUG, "ignoring message " + message.kind());
        }
    }

    private void receiveGrant(Ticket ticket, long token) {
        if (config.replicas() > 0 && ticket.state() == Ticket.State.WAITING) {
            context.background().execute(() -> renewals.confirm(ticket));
        } else {
            ticket.granted(token);
            tickets.waitsNoLonger(ticket);
        }
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        return releases.release(ticket, linger, deadline);
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        return releases.withdraw(ticket, deadline);
    }

    @Override
    public void downgrade(Ticket exclusive, Deadline deadline) {
        releases.downgrade(exclusive, deadline);
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        calls.run(Script.RAISE, knownKeys.of(name), deadline, String.valueOf(floor));
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        LockKeys keys = knownKeys.of(name);
        return releases.force(keys, keyWalk.view(keys, deadline).holders(), deadline);
    }

    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return keyWalk.prune(idleFor, deadline);
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return keyWalk.view(knownKeys.of(name), deadline).view();
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        return keyWalk.views(prefix, after, limit, deadline);
    }

    @Override
    public void ping(Deadline deadline) {
        try {
            commands.ping(deadline);
        } catch (JedisException e) {
            throw StoreUnavailableException.ofWholeStore(Failures.reason(e, Failures.SERVER), e);
        }
    }

    @Override
    public void close() {
        channels.close();
        topology.close();
    }
}
