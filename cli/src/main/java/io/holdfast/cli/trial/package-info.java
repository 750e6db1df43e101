/** {@code bench} and {@code torture}: what they are asked for, how they get on, what came of it. The work is done in their own modules. */
@NullMarked
package io.holdfast.cli.trial;

import org.jspecify.annotations.NullMarked;
