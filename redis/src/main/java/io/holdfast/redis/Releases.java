package io.holdfast.redis;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.redis.channel.Message;
import io.holdfast.redis.script.KnownKeys;
import io.holdfast.redis.script.LockKeys;
import io.holdfast.redis.script.Script;
import io.holdfast.redis.script.ScriptCall;
import io.holdfast.redis.script.ScriptCalls;
import io.holdfast.redis.script.ScriptCalls.Outcome;
import io.holdfast.redis.script.ScriptReply;
import io.holdfast.redis.server.Replies;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Ends holders and tickets at the server, or makes them smaller, and sees to it that the next are let in. Thread-safe. */
final class Releases {

    private static final System.Logger LOG = System.getLogger(Releases.class.getName());

    /** A script that ends this many holders or tickets keeps the server from others for about a millisecond. */
    private static final int ENDED_PER_SCRIPT = 100;

    private final RedisConfig config;
    private final StoreContext context;
    private final ScriptCalls calls;
    private final KnownKeys knownKeys;
    private final LiveTickets tickets;
    private final Renewals renewals;
    private final Consumer<Message> receiver;

    /** @param receiver gets what is a reply to this client and a message to others */
    Releases(
            RedisConfig config,
            StoreContext context,
            ScriptCalls calls,
            KnownKeys knownKeys,
            LiveTickets tickets,
            Renewals renewals,
            Consumer<Message> receiver) {
        this.config = config;
        this.context = context;
        this.calls = calls;
        this.knownKeys = knownKeys;
        this.tickets = tickets;
        this.renewals = renewals;
        this.receiver = receiver;
    }

    /** Its request failed here or was withdrawn: nobody must wait for this grant to expire. */
    void giveBack(Message grant) {
        LockKeys keys = LockKeys.ofLockKey(config.prefix(), grant.key());
        Deadline deadline = Deadline.after(context.time(), config.timeout());
        try {
            withdrawn(keys, calls.run(withdrawal(keys, List.of(grant.scriptOwner())), deadline));
        } catch (LockException e) {
            // Nobody renews it, so it expires.
            LOG.log(System.Logger.Level.DEBUG, "an unwanted grant is left to expire", e);
        }
    }

    ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        tickets.forget(ticket);
        boolean found = false;
        try {
            LockKeys keys = knownKeys.of(ticket);
            ScriptReply reply = calls.run(
                    Script.RELEASE,
                    keys,
                    deadline,
                    Script.owner(ticket),
                    Script.millis(linger.isNegative() ? Duration.ZERO : linger));
            found = reply.found();
            afterRelease(keys, reply);
            if (!found && reply.repeated()) {
                throw new UnknownOutcomeException(
                        ticket.name(), "the connection broke during the release, and afterwards it was not held");
            }
            return found ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
        } finally {
            if (!found) {
                checkWaiting(ticket.name());
            }
        }
    }

    /** The release, or an earlier try, may have let in tickets of this client, and its reply was lost. */
    private void checkWaiting(String name) {
        List<Ticket> next = tickets.oldestWaiting(name, ENDED_PER_SCRIPT);
        if (!next.isEmpty()) {
            context.background().execute(() -> renewals.check(next));
        }
    }

    /** Tickets of this client that were let in are in the reply. */
    private void afterRelease(LockKeys keys, ScriptReply reply) {
        List<?> parts = reply.parts();
        for (int i = 1; i < parts.size(); i += 2) {
            long token = Long.parseLong(Replies.text(parts.get(i + 1)));
            receiver.accept(Message.granted(Replies.text(parts.get(i)), token, keys.lock()));
        }
        advanceIfAgain(reply.again(), keys);
    }

    Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        tickets.forget(ticket);
        Optional<Withdrawal> before = HolderCheck.of(ticket).flatMap(HolderCheck::withdrawal);
        return before.orElseGet(() -> withdrawWithOthers(ticket, deadline));
    }

    /**
     * A crowd that gives up together is withdrawn together: the engine asks for one after the other, on one thread. Of one lock with one
     * script, of several with as many in one go.
     */
    private Withdrawal withdrawWithOthers(Ticket ticket, Deadline deadline) {
        List<List<Ticket>> byLock = new ArrayList<>();
        byLock.add(Stream.concat(Stream.of(ticket), tickets.givenUpAfter(ticket, ENDED_PER_SCRIPT - 1).stream())
                .toList());
        String server = calls.serverOf(knownKeys.of(ticket), deadline);
        tickets.givenUpElsewhere(ticket.name(), ENDED_PER_SCRIPT).stream()
                .filter(some ->
                        calls.serverOf(knownKeys.of(some.get(0)), deadline).equals(server))
                .forEach(byLock::add);
        List<ScriptCall> scripts = byLock.stream()
                .map(some -> withdrawal(
                        knownKeys.of(some.get(0)),
                        some.stream().map(Script::owner).toList()))
                .toList();
        List<Outcome> first = new ArrayList<>(1);
        calls.runAll(scripts, deadline, (number, outcome) -> {
            if (number == 0) {
                first.add(outcome);
            } else if (outcome instanceof Outcome.Answered answered) {
                note(
                        byLock.get(number),
                        withdrawn(knownKeys.of(byLock.get(number).get(0)), answered.reply()));
            }
        });
        List<Withdrawal> answers = withdrawn(knownKeys.of(ticket), first.get(0).replyOrThrow());
        note(byLock.get(0).subList(1, answers.size()), answers.subList(1, answers.size()));
        return answers.get(0);
    }

    private static void note(List<Ticket> some, List<Withdrawal> answers) {
        for (int i = 0; i < some.size(); i++) {
            Withdrawal answer = answers.get(i);
            HolderCheck.of(some.get(i)).ifPresent(known -> known.withdrawn(answer));
        }
    }

    private ScriptCall withdrawal(LockKeys keys, List<String> owners) {
        return calls.call(Script.WITHDRAW, keys, owners.toArray(String[]::new));
    }

    private List<Withdrawal> withdrawn(LockKeys keys, ScriptReply answered) {
        advanceIfAgain(answered.again(), keys);
        return answered.parts().stream()
                .skip(1)
                .map(found -> (Long) found == 1 ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND)
                .toList();
    }

    /** A script that lets others in does so for a hundred at most; if this client dies now, their own checks go on with it. */
    private void advanceIfAgain(boolean again, LockKeys keys) {
        if (again) {
            context.background().execute(() -> advance(keys));
        }
    }

    private void advance(LockKeys keys) {
        Deadline deadline = Deadline.after(context.time(), config.timeout());
        try {
            while (calls.run(Script.ADVANCE, keys, deadline).again()) {
                LOG.log(System.Logger.Level.TRACE, "more of {0} wait to be let in", keys.name());
            }
        } catch (LockException e) {
            LOG.log(System.Logger.Level.DEBUG, "those waiting for " + keys.name() + " go on by themselves", e);
        }
    }

    void downgrade(Ticket exclusive, Deadline deadline) {
        LockKeys keys = knownKeys.of(exclusive);
        ScriptReply reply = calls.run(Script.DOWNGRADE, keys, deadline, Script.owner(exclusive));
        advanceIfAgain(reply.again(), keys);
        if (reply.found()) {
            exclusive.downgraded();
        } else {
            tickets.forget(exclusive);
            exclusive.gone(LossReason.GONE, "the server no longer knows it");
        }
    }

    /** Takes the lock from those that were seen. Returns how many had it. */
    int force(LockKeys keys, List<String> seen, Deadline deadline) {
        int lost = 0;
        for (List<String> some : ScriptCalls.chunks(seen, ENDED_PER_SCRIPT)) {
            List<?> reply = (List<?>) calls.run(Script.FORCE, keys, deadline, some.toArray(String[]::new))
                    .value();
            lost += ((Long) reply.get(0)).intValue();
            advanceIfAgain((Long) reply.get(1) > 0, keys);
        }
        return lost;
    }
}
