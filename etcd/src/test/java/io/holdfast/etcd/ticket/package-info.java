@NullMarked
package io.holdfast.etcd.ticket;

import org.jspecify.annotations.NullMarked;
