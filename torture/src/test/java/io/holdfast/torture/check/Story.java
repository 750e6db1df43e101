package io.holdfast.torture.check;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Guard;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import io.holdfast.torture.nemesis.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A history told by hand, in whole units of time. Every acquisition has a process of its own, named like it. */
final class Story {

    static final String LOCK = "orders";

    /** No drift and no slack: a lease ends exactly its ttl after it was asked for. */
    static final Rules EXACT = new Rules(0, Duration.ZERO, Rules.Order.ANY, Optional.empty());

    private final List<Event> events = new ArrayList<>();

    Story asks(long at, String who, Demand demand) {
        return add(by(at, who, Operation.ACQUIRE, Phase.INVOKE).demand(demand));
    }

    Story gets(long at, String who, long token, long sent, long ttl) {
        add(Event.at(at, who, Operation.GRANTED, Phase.OK)
                .lock(LOCK)
                .owner(who)
                .token(token)
                .sent(sent, ttl));
        return add(by(at, who, Operation.ACQUIRE, Phase.OK).token(token));
    }

    /** Asks and gets, with a lease of 100 from the moment it asked. */
    Story holds(long asked, long got, String who, long token) {
        return asks(asked, who, Demand.exclusive()).gets(got, who, token, asked, 100);
    }

    Story getsNothing(long at, String who, Phase phase) {
        return add(by(at, who, Operation.ACQUIRE, phase));
    }

    Story valid(long at, String who, long until) {
        return add(by(at, who, Operation.VALID, Phase.OK).until(until));
    }

    Story lost(long at, String who, LossReason reason) {
        return add(by(at, who, Operation.LOST, Phase.TOLD_LOST).detail(reason.name()));
    }

    Story releases(long from, long to, String who) {
        return releases(from, to, who, Phase.OK);
    }

    Story releases(long from, long to, String who, Phase outcome) {
        add(by(from, who, Operation.RELEASE, Phase.INVOKE));
        return add(by(to, who, Operation.RELEASE, outcome));
    }

    Story releasesAndNeverKnows(long from, String who) {
        return add(by(from, who, Operation.RELEASE, Phase.INVOKE));
    }

    Story queued(long at, String who, Demand demand, long sent, long ttl) {
        return add(Event.at(at, who, Operation.QUEUED, Phase.OK)
                .lock(LOCK)
                .owner(who)
                .demand(demand)
                .sent(sent, ttl));
    }

    Story granted(long at, String who, Demand demand, long token, long sent) {
        return add(Event.at(at, who, Operation.GRANTED, Phase.OK)
                .lock(LOCK)
                .owner(who)
                .demand(demand)
                .token(token)
                .sent(sent, 100));
    }

    Story renewed(long at, String who, long sent, long ttl) {
        return add(Event.at(at, who, Operation.RENEWED, Phase.OK)
                .lock(LOCK)
                .owner(who)
                .sent(sent, ttl));
    }

    Story unqueued(long at, String who) {
        return add(Event.at(at, who, Operation.UNQUEUED, Phase.OK).lock(LOCK).owner(who));
    }

    Story writes(long at, String who, Guard guard, String previous, String value, Phase outcome) {
        add(by(at, who, Operation.WRITE, Phase.INVOKE)
                .guard(guard)
                .previous(previous)
                .value(value));
        return outcome == Phase.INVOKE
                ? this
                : add(by(at, who, Operation.WRITE, outcome)
                        .guard(guard)
                        .previous(previous)
                        .value(value));
    }

    Story contains(long at, Guard guard, String last) {
        return add(Event.at(at, "runner", Operation.FINAL, Phase.OK)
                .lock(LOCK)
                .guard(guard)
                .value(last));
    }

    Story fault(long from, long to, Fault fault, String target) {
        add(Event.at(from, "nemesis", Operation.FAULT, Phase.INVOKE)
                .value(fault.word())
                .detail(target));
        return add(Event.at(to, "nemesis", Operation.FAULT, Phase.OK)
                .value(fault.word())
                .detail(target));
    }

    Story fault(long from, long to) {
        return unhealedFault(from)
                .add(Event.at(to, "nemesis", Operation.FAULT, Phase.OK).value("pause"));
    }

    Story unhealedFault(long from) {
        return add(Event.at(from, "nemesis", Operation.FAULT, Phase.INVOKE).value("pause"));
    }

    Story busy(long from, long to) {
        return add(Event.at(from, "runner", Operation.BUSY, Phase.OK).until(to));
    }

    Story leaves(long at, Phase phase) {
        return add(Event.at(at, "runner", Operation.LEFTOVERS, phase).lock(LOCK).detail("a ticket"));
    }

    /** A sign of life. */
    Story lives(long at, String who) {
        return add(by(at, who, Operation.CANCEL, Phase.INVOKE));
    }

    List<Event> events() {
        return events;
    }

    Verdict judged() {
        return Checker.check(events, EXACT);
    }

    private static Event.Builder by(long at, String who, Operation operation, Phase phase) {
        return Event.at(at, who, operation, phase).lock(LOCK).acquisition(who);
    }

    private Story add(Event.Builder event) {
        events.add(event.build());
        return this;
    }
}
