/** What can be seen of a store's server from beside it: where it is, what it has been asked, what CPU time it took. */
@NullMarked
package io.holdfast.bench.server;

import org.jspecify.annotations.NullMarked;
