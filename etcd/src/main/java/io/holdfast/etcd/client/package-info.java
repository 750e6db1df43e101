/**
 * Talks to etcd: one request, one answer, one deadline, whichever member answers, and all watches on one stream. Knows what may
 * have become of a request that was not answered. Knows nothing of locks.
 */
@NullMarked
package io.holdfast.etcd.client;

import org.jspecify.annotations.NullMarked;
