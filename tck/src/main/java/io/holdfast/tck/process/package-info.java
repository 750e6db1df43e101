/** Clients in processes of their own, which can be killed. */
@NullMarked
package io.holdfast.tck.process;

import org.jspecify.annotations.NullMarked;
