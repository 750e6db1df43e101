/** What the processes of a run do with the locks: they run in JVMs of their own, to be killed and stopped. */
@NullMarked
package io.holdfast.torture.worker;

import org.jspecify.annotations.NullMarked;
