package io.holdfast.spring;

/** What becomes of a call that did not get its lock. */
public enum OnConflict {
    /** It throws {@link LockConflictException}. */
    THROW,
    /** It returns nothing: null, or an empty {@code Optional}; a stage completes with that. */
    SKIP,
    /** It calls the fallback instead. */
    FALLBACK
}
