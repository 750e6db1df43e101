/**
 * What happened in a run, line by line: the only thing the checker and the report look at.
 *
 * <h2>Files</h2>
 *
 * Every process of a run appends to a file of its own, one JSON object per line ({@link
 * io.holdfast.torture.history.HistoryWriter}). A line is handed to the operating system before the call that wrote it
 * returns, so {@code kill -9} loses nothing but, at worst, the rest of the last line. {@link
 * io.holdfast.torture.history.HistoryReader} merges the files into one time line. All times are {@link
 * java.lang.System#nanoTime}, which is the machine's monotonic clock and so comparable between its processes.
 *
 * <h2>Three layers of events</h2>
 *
 * <ol>
 *   <li>What the program using the lock did and was told: acquire, cancel, valid, lost, extend, release, read, write. These
 *       carry an {@code acquisition}, a name for one call of acquire and what came of it, unique in the run.
 *   <li>What the client exchanged with its store: queued, granted, renewed, unqueued, written by the tap of {@link
 *       io.holdfast.torture.history.Recorder}. These carry the store's {@code owner} of the request. The user's token is the
 *       store's token times 1,024 plus a number of local handoffs, so an acquisition belongs to the last grant of its process
 *       and lock whose token has the same upper bits.
 *   <li>What the run did: faults, and at the end the final content of the resources and what was left in the store.
 * </ol>
 *
 * <h2>Rules that make the judgement exact</h2>
 *
 * An <em>invoke</em> is timed and written <em>before</em> the call it announces, an outcome is timed <em>after</em> the call
 * returned: what really happened lies between. A call that never comes back (the process was killed) has an invoke and
 * nothing else. {@code sentNanos} is never later than the moment the request left this process. {@code untilNanos} is never
 * later than the end of validity the client counted with. Every error of measurement thus makes the checker more lenient,
 * never wrong.
 */
@NullMarked
package io.holdfast.torture.history;

import org.jspecify.annotations.NullMarked;
