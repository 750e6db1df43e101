/** What instances of applications count themselves, asked of their Actuator: rates and percentiles, which no store shows. */
@NullMarked
package io.holdfast.ui.instance;

import org.jspecify.annotations.NullMarked;
