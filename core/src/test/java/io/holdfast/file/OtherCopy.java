package io.holdfast.file;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;

/** Runs in a class loader of its own, as a second web application with the same library would. */
public final class OtherCopy implements Function<Path, String> {

    @Override
    public String apply(Path directory) {
        try (StoreClient client = new StoreClient(directory, "other copy")) {
            String seen = client.view("job").holders().size() + " "
                    + client.store.views("", StoreClient.soon()).size();
            String answer = client.attempt("job").getClass().getSimpleName();
            client.store.prune(Duration.ZERO, StoreClient.soon());
            return seen + " " + answer;
        }
    }
}
