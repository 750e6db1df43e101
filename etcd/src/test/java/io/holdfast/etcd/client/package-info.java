@NullMarked
package io.holdfast.etcd.client;

import org.jspecify.annotations.NullMarked;
