package io.holdfast;

/**
 * The end of a lease that nobody released.
 *
 * @param name the lock
 * @param token the token of the lost lease
 * @param reason what ended it
 * @param detail the same for people
 */
public record Loss(String name, long token, LossReason reason, String detail) {}
