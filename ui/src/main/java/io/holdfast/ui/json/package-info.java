/** The state of locks as JSON, the same for the command and the dashboard. */
@NullMarked
package io.holdfast.ui.json;

import org.jspecify.annotations.NullMarked;
