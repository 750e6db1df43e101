package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockView;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Different names are different locks, whatever they are made of. */
@DisplayName("Names")
public abstract class NamesContract extends StoreContract {

    /** Each pair of neighbours, and some strangers, are one lock on a store that folds, trims or unescapes names. */
    private static List<String> awkwardNames() {
        String longest = "x".repeat(511);
        return List.of(
                "Job",
                "job",
                "JOB",
                "job ",
                " job",
                "job\t",
                "job\n",
                "jöb",
                "jo\u0308b",
                "job\u00a0",
                "job.",
                "job\\",
                "a",
                "a/",
                "/a",
                "a/b",
                "a//b",
                "a/b/",
                "a%2Fb",
                "a%2fb",
                "a\\b",
                "a%",
                "a%25",
                "a_b",
                "a:b",
                "a-b",
                "{a}",
                "a}",
                "{a",
                "x}y",
                "{x}y",
                "{",
                "}",
                "{}",
                ".",
                "..",
                "../a",
                "a/..",
                "a/./b",
                "~",
                "*",
                "?",
                "[a]",
                "a*",
                "'",
                "\"",
                "a'b",
                "--",
                ";",
                "a;b",
                "#",
                "null",
                "true",
                "0",
                "00",
                "\u007f",
                "\u0001",
                "\u65e5\u672c\u8a9e",
                "\ud83d\udd12",
                "\ud83d\udd13",
                "\ud83d\udd12\ufe0f",
                "é",
                "e\u0301",
                "ß",
                "ss",
                "ı",
                "i",
                "I",
                "İ",
                "holdfast",
                "holdfast:a",
                "lock",
                "queue",
                "tickets",
                "_c_",
                "counter",
                "a.lock",
                "a:queue",
                "a/lock",
                "é".repeat(256),
                longest + "a",
                longest + "b",
                "y".repeat(256),
                "y".repeat(255),
                "y".repeat(250),
                "z/".repeat(256),
                "z/".repeat(255) + "z",
                "%".repeat(512),
                "%".repeat(511));
    }

    @Test
    void differentNamesAreDifferentLocks() {
        Holdfast ours = client();
        Holdfast theirs = client();
        List<Lease> held = new ArrayList<>();
        for (String name : awkwardNames()) {
            held.add(ours.lock(name, longLived())
                    .tryAcquire()
                    .orElseThrow(() -> new AssertionError("'" + name + "' is taken by another name")));
        }

        for (Lease lease : held) {
            assertThat(theirs.lock(lease.name()).tryAcquire())
                    .as("'%s' while it is held", lease.name())
                    .isEmpty();
            assertThat(view(lease.name()).holders())
                    .as("holders of '%s'", lease.name())
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.token()).hasValue(lease.token()));
        }
        assertThat(theirs.locks(""))
                .extracting(LockView::name)
                .as("names read back from the store")
                .containsAll(awkwardNames());
        held.forEach(Lease::release);
        assertThat(theirs.locks("")).extracting(LockView::name).doesNotContainAnyElementsOf(awkwardNames());
    }

    @Test
    void waitersOfAwkwardNamesAreServed() throws Exception {
        Holdfast ours = client();
        Holdfast theirs = client();
        for (String name :
                List.of("{a}", "x}y", "..", "a/b", "job ", "\ud83d\udd12", "%".repeat(512), "z/".repeat(256))) {
            Lease holder = ours.lock(name, longLived()).acquire();
            CompletableFuture<Lease> waiter = theirs.lock(name, longLived()).acquireAsync();
            holder.release();
            get(waiter).release();
            assertThat(view(name)).isEqualTo(LockView.free(name));
        }
    }

    @Test
    void aPrefixIsTakenLiterally() throws Exception {
        Holdfast client = client();
        String stars = name("a*b");
        String letters = name("axb");
        String underscore = name("a_b");
        try (var all = client.lockAll(stars, letters, underscore).acquire()) {
            assertThat(client.locks(name("a*"))).extracting(LockView::name).containsExactly(stars);
            assertThat(client.locks(name("a_"))).extracting(LockView::name).containsExactly(underscore);
            assertThat(client.locks(name("a%"))).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\0b", "\0", "\ud800", "a\udc00b"})
    void whatIsNoNameIsRefused(String name) {
        Holdfast client = client();

        assertThatThrownBy(() -> client.lock(name)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.readWriteLock(name)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.semaphore(name, 2)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.lockAll("fine", name)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.election(name)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aNameOfMoreThan512BytesIsRefused() {
        Holdfast client = client();

        assertThatThrownBy(() -> client.lock("x".repeat(513))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.lock("é".repeat(257))).isInstanceOf(IllegalArgumentException.class);
    }
}
