/** What is promised, a contract per promise, and what the contracts share: clients, names and times, and requests made past the engine. */
@NullMarked
package io.holdfast.tck.promise;

import org.jspecify.annotations.NullMarked;
