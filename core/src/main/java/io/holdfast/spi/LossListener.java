package io.holdfast.spi;

import io.holdfast.LossReason;

/** Hears from the store that a grant ended early: a session expired, an administrator took it. Returns at once. */
@FunctionalInterface
public interface LossListener {

    void lost(OwnerId owner, LossReason reason, String detail);
}
