@NullMarked
package io.holdfast.etcd.session;

import org.jspecify.annotations.NullMarked;
