package io.holdfast.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Loss;
import io.holdfast.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Users' code")
class CallbacksTest {

    private static final Loss LOSS = new Loss("orders", 1, LossReason.EXPIRED, "test");

    private final List<Runnable> own = new ArrayList<>();
    private final List<Runnable> losses = new ArrayList<>();
    private final List<Runnable> users = new ArrayList<>();
    private final List<Object> heard = new ArrayList<>();
    private final Lifecycle lifecycle = new Lifecycle("client");

    @Test
    void thatHangsOnAFutureNeverRunsOnTheUsersExecutor() {
        callbacks(users::add).complete(heard::add, "lease");

        run(own);

        assertThat(heard).containsExactly("lease");
        assertThat(users).isEmpty();
    }

    @Test
    void thatListensRunsOnTheUsersExecutorWhichAThreadOfOursHandsItTo() {
        callbacks(users::add).inOrder().tell(() -> heard.add("event"));
        assertThat(users).isEmpty();

        run(own);
        assertThat(heard).isEmpty();
        run(users);

        assertThat(heard).containsExactly("event");
    }

    @Test
    void thatHearsOfLossesHasThreadsOfItsOwn() {
        Callbacks callbacks = callbacks(users::add);
        callbacks.tellLoss(heard::add, LOSS);
        assertThat(own).isEmpty();

        run(losses);
        run(users);

        assertThat(heard).containsExactly(LOSS);
    }

    @Test
    void runsOnAThreadOfOursIfTheUserNamesNoExecutor() {
        Callbacks callbacks = new Callbacks(Optional.empty(), own::add, losses::add, lifecycle);
        callbacks.inOrder().tell(() -> heard.add("event"));
        callbacks.tellLoss(heard::add, LOSS);

        run(own);
        run(losses);

        assertThat(heard).containsExactly("event", LOSS);
    }

    @Test
    void runsOnAThreadOfOursIfTheUsersExecutorRefusesIt() {
        callbacks(task -> {
                    throw new RejectedExecutionException("full");
                })
                .inOrder()
                .tell(() -> heard.add("event"));

        run(own);

        assertThat(heard).containsExactly("event");
    }

    @Test
    void runsOnceThoughTheUsersExecutorKeepsItAndThrows() {
        callbacks(task -> {
                    users.add(task);
                    throw new OutOfMemoryError("unable to create native thread (simulated)");
                })
                .inOrder()
                .tell(() -> heard.add("event"));

        run(own);
        run(users);

        assertThat(heard).containsExactly("event");
    }

    @Test
    void runsHereIfOurThreadsHaveEnded() {
        Executor ended = task -> {
            throw new RejectedExecutionException("closed");
        };

        new Callbacks(Optional.empty(), ended, ended, lifecycle).complete(heard::add, "lease");

        assertThat(heard).containsExactly("lease");
    }

    @Test
    void runsHereIfTheClientIsClosedForAPoolThatIsShutDownMayDoNothing() {
        lifecycle.beginClosing();
        lifecycle.finishClosing();

        callbacks(Runnable::run).complete(heard::add, "lease");

        assertThat(heard).containsExactly("lease");
        assertThat(own).isEmpty();
    }

    @Test
    void thatFailsIsNobodyElsesTrouble() {
        Callbacks callbacks = new Callbacks(Optional.empty(), Runnable::run, Runnable::run, lifecycle);
        Consumer<Object> failing = argument -> {
            throw new NoClassDefFoundError("an optional class (simulated)");
        };

        callbacks.inOrder().tell(() -> failing.accept("event"));
        callbacks.complete(failing, "lease");
        callbacks.tellLoss(failing::accept, LOSS);
    }

    private Callbacks callbacks(Executor usersExecutor) {
        return new Callbacks(Optional.of(usersExecutor), own::add, losses::add, lifecycle);
    }

    private static void run(List<Runnable> tasks) {
        List.copyOf(tasks).forEach(Runnable::run);
        tasks.clear();
    }
}
