package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Origin;
import io.holdfast.LockView.Waiter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Deadlocks are found in views")
class DeadlocksTest {

    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private static Origin client(String name, String... holds) {
        return new Origin(name, "host", 1, "main", Optional.empty(), List.of(holds));
    }

    private static Origin noted(String name, String note, String... holds) {
        return new Origin(name, "host", 1, "main", Optional.of(note), List.of(holds));
    }

    private static Holder holder(Origin origin, Demand demand) {
        return new Holder(Optional.of(origin), demand, Optional.of(1L), Optional.of(NOON), Optional.empty());
    }

    private static Holder holder(String client) {
        return holder(client(client), Demand.exclusive());
    }

    private static Waiter waiter(Origin origin, Demand demand) {
        return new Waiter(Optional.of(origin), demand, Optional.of(NOON));
    }

    private static Waiter waiter(String client, String... holds) {
        return waiter(client(client, holds), Demand.exclusive());
    }

    private static LockView view(String name, List<Holder> holders, Waiter... waiters) {
        return new LockView(name, holders, List.of(waiters));
    }

    private static LockView view(String name, Holder holder, Waiter... waiters) {
        return view(name, List.of(holder), waiters);
    }

    private static List<List<String>> clientsOf(List<Deadlock> deadlocks) {
        return deadlocks.stream()
                .map(deadlock -> deadlock.waits().stream()
                        .map(wait -> wait.waiter().origin().map(Origin::client).orElse("?"))
                        .sorted()
                        .toList())
                .toList();
    }

    @Test
    void twoThatHoldWhatTheOtherWaitsFor() {
        Waiter late =
                new Waiter(Optional.of(client("b", "second")), Demand.exclusive(), Optional.of(NOON.plusSeconds(7)));

        List<Deadlock> found = Deadlocks.find(
                List.of(view("first", holder("a"), late), view("second", holder("b"), waiter("a", "first"))));

        assertThat(found).hasSize(1);
        assertThat(clientsOf(found)).containsExactly(List.of("a", "b"));
        assertThat(found.get(0).locks()).containsExactlyInAnyOrder("first", "second");
        assertThat(found.get(0).since()).contains(NOON.plusSeconds(7));
        assertThat(found.get(0).waits().get(0).holder()).contains(holder("a"));
        assertThat(found.get(0))
                .hasToString("b (host, pid 1, thread main) holds 'second' and waits for 'first';"
                        + " a (host, pid 1, thread main) holds 'first' and waits for 'second'");
    }

    @Test
    void threeInACircleEachWaitingForTheNext() {
        List<Deadlock> found = Deadlocks.find(List.of(
                view("1", holder("a"), waiter("c", "3")),
                view("2", holder("b"), waiter("a", "1")),
                view("3", holder("c"), waiter("b", "2"))));

        assertThat(clientsOf(found)).containsExactly(List.of("a", "b", "c"));
        List<Deadlock.Wait> waits = found.get(0).waits();
        for (int i = 0; i < 3; i++) {
            assertThat(waits.get((i + 1) % 3).holds())
                    .containsExactly(waits.get(i).lock());
        }
    }

    @Test
    void oneThatWaitsForItself() {
        assertThat(clientsOf(Deadlocks.find(List.of(view("1", holder("a"), waiter("a", "1"))))))
                .containsExactly(List.of("a"));
    }

    @Test
    void aMereQueueIsNone() {
        assertThat(Deadlocks.find(List.of(
                        view("1", holder("a"), waiter("b"), waiter("c", "9"), waiter("d")), view("9", holder("c")))))
                .isEmpty();
    }

    @Test
    void aChainThatEndsWithOneWhoWorksIsNone() {
        assertThat(Deadlocks.find(List.of(
                        view("1", holder("a"), waiter("b", "2")),
                        view("2", holder("b"), waiter("c", "3")),
                        view("3", holder("c"), waiter("d")))))
                .isEmpty();
    }

    @Test
    void thoseWhoMerelyQueueBehindOneAreNotPartOfIt() {
        List<Deadlock> found = Deadlocks.find(List.of(
                view("1", holder("a"), waiter("early", "9"), waiter("b", "2"), waiter("late")),
                view("2", holder("b"), waiter("a", "1"), waiter("other")),
                view("9", holder("early"), waiter("another"))));

        assertThat(clientsOf(found)).containsExactly(List.of("a", "b"));
    }

    @Test
    void whatAWaiterSaysItHoldsCountsOnlyIfTheStoreShowsItsClientAsHolder() {
        assertThat(Deadlocks.find(List.of(
                        view("1", holder("a"), waiter("b", "2")), view("2", holder("somebody"), waiter("a", "1")))))
                .isEmpty();
        assertThat(Deadlocks.find(List.of(
                        view("1", holder("a"), waiter("b", "2")),
                        view("2", holder("b").lingering(), waiter("a", "1")))))
                .as("released already, kept for its shortest time")
                .isEmpty();
    }

    @Test
    void twoThreadsOfOneClientAreNotTakenForOne() {
        // The one that holds lock 1 works; another thread of the same client and name waits.
        assertThat(Deadlocks.find(
                        List.of(view("1", holder("a"), waiter("b", "2")), view("2", holder("b"), waiter("a", "3")))))
                .isEmpty();
        // One holds lock 1 and waits for lock 2, whose holder works; another of the same name waits for lock 1.
        assertThat(Deadlocks.find(
                        List.of(view("1", holder("a"), waiter("a")), view("2", holder("b"), waiter("a", "1")))))
                .isEmpty();
    }

    @Test
    void oneWhoseLeaseWasHandedOnInsideItsClientIsFound() {
        Holder firstThread = holder(new Origin("a", "host", 1, "another thread"), Demand.exclusive());

        assertThat(clientsOf(Deadlocks.find(
                        List.of(view("1", firstThread, waiter("b", "2")), view("2", holder("b"), waiter("a", "1"))))))
                .containsExactly(List.of("a", "b"));
    }

    @Test
    void clientsOfTheSameNameInOtherProcessesAreOthers() {
        Holder otherProcess = holder(new Origin("a", "host", 2, "main"), Demand.exclusive());

        assertThat(Deadlocks.find(
                        List.of(view("1", otherProcess, waiter("b", "2")), view("2", holder("b"), waiter("a", "1")))))
                .isEmpty();
    }

    @Test
    void aWriterWaitsForEveryReader() {
        List<Deadlock> found = Deadlocks.find(List.of(
                view(
                        "1",
                        List.of(holder(client("works"), Demand.shared()), holder(client("a"), Demand.shared())),
                        waiter("b", "2")),
                view("2", holder("b"), waiter("a", "1"))));

        assertThat(clientsOf(found)).containsExactly(List.of("a", "b"));
    }

    @Test
    void twoReadersThatBothWantToWrite() {
        List<Deadlock> found = Deadlocks.find(List.of(view(
                "1",
                List.of(holder(client("a"), Demand.shared()), holder(client("b"), Demand.shared())),
                waiter("a", "1"),
                waiter("b", "1"))));

        assertThat(found).isNotEmpty();
        assertThat(clientsOf(found)).allMatch(clients -> List.of("a", "b").containsAll(clients));
    }

    @Test
    void aReaderWaitsForTheWriterAheadOfItThatWaitsForReaders() {
        List<Deadlock> found = Deadlocks.find(List.of(
                view(
                        "1",
                        List.of(holder(client("a"), Demand.shared())),
                        waiter("writer"),
                        waiter(client("b", "2"), Demand.shared())),
                view("2", holder("b"), waiter("a", "1"))));

        assertThat(clientsOf(found)).containsExactly(List.of("a", "b", "writer"));
        assertThat(found.get(0).waits())
                .filteredOn(wait -> wait.holder().isEmpty())
                .extracting(wait -> wait.waiter().demand())
                .containsExactly(Demand.shared());
    }

    @Test
    void aReaderBesideReadersWaitsForNobody() {
        assertThat(Deadlocks.find(List.of(
                        view(
                                "1",
                                List.of(holder(client("a"), Demand.shared())),
                                waiter(client("b", "2"), Demand.shared())),
                        view("2", holder("b"), waiter("a", "1")))))
                .isEmpty();
    }

    @Test
    void permitsAreStuckOnlyIfNobodyElseCanReleaseEnough() {
        Demand one = Demand.permits(1, 2);
        List<Holder> bothTaken = List.of(holder(client("a"), one), holder(client("works"), one));

        assertThat(Deadlocks.find(List.of(
                        view("1", bothTaken, waiter(client("b", "2"), one)), view("2", holder("b"), waiter("a", "1")))))
                .isEmpty();
        assertThat(clientsOf(Deadlocks.find(List.of(
                        view("1", bothTaken, waiter(client("b", "2"), Demand.permits(2, 2))),
                        view("2", holder("b"), waiter("a", "1"))))))
                .containsExactly(List.of("a", "b"));
    }

    @Test
    void aHolderThatWaitsForOneWhoWorksWillReleaseItsPermit() {
        Demand one = Demand.permits(1, 2);

        assertThat(Deadlocks.find(List.of(
                        view(
                                "1",
                                List.of(holder(client("a"), one), holder(client("c"), one)),
                                waiter(client("b", "2"), one)),
                        view("2", holder("b"), waiter("a", "1")),
                        view("3", holder("works"), waiter("c", "1")))))
                .isEmpty();
    }

    @Test
    void aNoteIsAUnitOfWorkWhateverItsFuturesWaitFor() {
        List<Deadlock> found = Deadlocks.find(List.of(
                view("1", holder(noted("a", "order 7"), Demand.exclusive()), waiter("b", "2")),
                view("2", holder("b"), waiter(noted("a", "order 7", "1"), Demand.exclusive())),
                view("3", holder("works"), waiter(noted("a", "order 7", "1"), Demand.exclusive()))));

        assertThat(clientsOf(found)).containsExactly(List.of("a", "b"));
        assertThat(found.get(0).toString()).contains("order 7");
    }

    @Test
    void aHolderIsTheUnitOfWorkOfItsNoteWhicheverThreadAsked() {
        Origin askedElsewhere = new Origin("a", "host", 1, "another thread", Optional.of("order 7"), List.of());
        Demand two = Demand.permits(2, 3);
        Demand one = Demand.permits(1, 3);

        // Of its three permits order 7, which waits for b, has two; the thread that waits for one who works has one.
        List<Deadlock> found = Deadlocks.find(List.of(
                view(
                        "1",
                        List.of(holder(askedElsewhere, two), holder(client("a"), one)),
                        waiter(client("b", "2"), two)),
                view("3", holder("works"), waiter("a", "1")),
                view("2", holder("b"), waiter(noted("a", "order 7", "1"), Demand.exclusive()))));

        assertThat(clientsOf(found)).containsExactly(List.of("a", "b"));
    }

    @Test
    void twoCirclesAreTwo() {
        assertThat(Deadlocks.find(List.of(
                        view("1", holder("a"), waiter("b", "2")),
                        view("2", holder("b"), waiter("a", "1")),
                        view("3", holder("c"), waiter("d", "4")),
                        view("4", holder("d"), waiter("c", "3")))))
                .hasSize(2);
    }

    @Test
    void foreignClientsAreNotKnownToWait() {
        Holder foreign =
                new Holder(Optional.empty(), Demand.exclusive(), Optional.empty(), Optional.empty(), Optional.empty());
        Waiter unknown = new Waiter(Optional.empty(), Demand.exclusive(), Optional.empty());

        assertThat(Deadlocks.find(List.of(view("1", foreign, unknown), view("2", foreign, unknown))))
                .isEmpty();
    }

    @Test
    @Timeout(20)
    void aCrowdTakesNoLongerThanItsSize() {
        List<LockView> views = new ArrayList<>();
        Waiter[] crowd = IntStream.range(0, 20_000)
                .mapToObj(i -> waiter("crowd-" + i, "own-" + i))
                .toArray(Waiter[]::new);
        views.add(view("1", holder("a"), crowd));
        views.add(view("2", holder("b"), waiter("a", "1")));
        for (int i = 0; i < 20_000; i++) {
            views.add(view("own-" + i, holder("crowd-" + i)));
        }

        assertThat(Deadlocks.find(views)).isEmpty();

        views.set(1, view("2", holder("crowd-19999"), waiter("a", "1")));
        crowd[19_999] = waiter("crowd-19999", "own-19999", "2");
        views.set(0, view("1", holder("a"), crowd));
        assertThat(clientsOf(Deadlocks.find(views))).containsExactly(List.of("a", "crowd-19999"));
    }

    @Test
    void whereNobodyWaitsThereIsNone() {
        assertThat(Deadlocks.find(List.of())).isEmpty();
        assertThat(Deadlocks.find(List.of(LockView.free("1")))).isEmpty();
    }
}
