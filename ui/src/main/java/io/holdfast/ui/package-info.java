/** The dashboard: a small server that shows the locks of stores in a browser. Start at {@link io.holdfast.ui.Dashboard}. */
@NullMarked
package io.holdfast.ui;

import org.jspecify.annotations.NullMarked;
