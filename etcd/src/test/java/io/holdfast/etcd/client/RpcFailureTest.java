package io.holdfast.etcd.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.io.IOException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("P7 what became of a request that etcd did not answer as asked")
class RpcFailureTest {

    /** etcd 3.4 says it with code UNKNOWN, later ones with RESOURCE_EXHAUSTED. */
    @ParameterizedTest
    @EnumSource(
            value = Status.Code.class,
            names = {"UNKNOWN", "RESOURCE_EXHAUSTED"})
    void whatIsTurnedAwayFromABusyServerWasNotApplied(Status.Code code) {
        Status status = code.toStatus().withDescription("etcdserver: too many requests");

        assertThat(RpcFailure.of(status, true).isNotApplied()).isTrue();
    }

    @Test
    void whatFilledTheDatabaseMayHaveBeenApplied() {
        Status status = Status.RESOURCE_EXHAUSTED.withDescription("etcdserver: mvcc: database space exceeded");

        assertThat(RpcFailure.of(status, true).isNotApplied()).isFalse();
    }

    @Test
    void aTimeoutOfTheServerTellsNothing() {
        Status status = Status.UNAVAILABLE.withDescription("etcdserver: request timed out");

        assertThat(RpcFailure.of(status, true).isNotApplied()).isFalse();
    }

    @Test
    void aResetBeforeThereIsAConnectionIsToldAsWhatItMayBe() {
        Status reset =
                Status.UNAVAILABLE.withDescription("io exception").withCause(new IOException("Connection reset"));

        assertThat(RpcFailure.of(reset, 0, "etcd-1:2379").getMessage()).contains("etcd-1:2379", "TLS handshake");
        assertThat(RpcFailure.of(reset, 1, "etcd-1:2379").getMessage()).doesNotContain("TLS");
    }
}
