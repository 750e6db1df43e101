package io.holdfast.torture.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.torture.worker.UsersExecutor.Conduct;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("the executor of a worker")
class UsersExecutorTest {

    private final UsersExecutor executor = new UsersExecutor();
    private final CountDownLatch ran = new CountDownLatch(1);

    @Test
    void thatHangsTakesTasksAndRunsThemWhenItServesAgain() throws InterruptedException {
        executor.conduct(Conduct.HANGS);

        executor.execute(ran::countDown);

        assertThat(ran.await(50, TimeUnit.MILLISECONDS)).isFalse();
        executor.conduct(Conduct.SERVES);
        assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void thatBlocksKeepsWhoBringsATaskUntilItServesAgain() throws InterruptedException {
        executor.conduct(Conduct.BLOCKS);
        Thread caller = new Thread(() -> executor.execute(ran::countDown));

        caller.start();

        await().until(() -> caller.getState() == Thread.State.WAITING);
        assertThat(ran.getCount()).isOne();
        executor.conduct(Conduct.SERVES);
        assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
        caller.join();
    }

    @Test
    void thatRefusesSaysSo() {
        executor.conduct(Conduct.parse(Conduct.REFUSES.word()));

        assertThatThrownBy(() -> executor.execute(ran::countDown)).isInstanceOf(RejectedExecutionException.class);
    }
}
