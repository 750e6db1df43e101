package io.holdfast.ui.instance;

import java.util.Optional;

/**
 * What a client of an instance has counted since it was connected. Immutable.
 *
 * @param bean by which its application knows it
 * @param client its name, as stores show it
 * @param store as the instance names it
 * @param held leases it holds now
 * @param waiting acquisitions under way
 * @param acquired leases it got
 * @param unsuccessful acquisitions that ended without a lease
 * @param lost leases it lost
 * @param waitP99Millis what one acquisition in a hundred waited or more, of the last ones
 * @param holdP99Millis how long one lease in a hundred was held or longer, of the last ones
 */
public record ClientCounts(
        String bean,
        String client,
        String store,
        long held,
        long waiting,
        long acquired,
        long unsuccessful,
        long lost,
        Optional<Double> waitP99Millis,
        Optional<Double> holdP99Millis) {}
