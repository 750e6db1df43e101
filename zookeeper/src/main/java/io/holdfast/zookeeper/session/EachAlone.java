package io.holdfast.zookeeper.session;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.Consumer;

/** Lets trouble with one of many not reach the others. */
public final class EachAlone {

    private static final Logger LOG = System.getLogger(EachAlone.class.getName());

    private EachAlone() {}

    public static <T> void forEach(Iterable<T> all, Consumer<T> action) {
        for (T one : all) {
            try {
                action.accept(one);
            } catch (RuntimeException | Error e) {
                LOG.log(Level.WARNING, () -> "Trouble with " + one, e);
            }
        }
    }
}
