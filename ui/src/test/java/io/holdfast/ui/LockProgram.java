package io.holdfast.ui;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** A program of its own that takes and releases locks as it is told on its standard input, on one thread. */
final class LockProgram {

    private LockProgram() {}

    /** @param arguments the store, and what this client calls itself */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Map<String, Lease> held = new HashMap<>();
        try (Holdfast holdfast = Holdfast.builder()
                        .store(arguments[0])
                        .name(arguments[1])
                        .connect();
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            LockOptions options = LockOptions.defaults().withTtl(Duration.ofSeconds(10));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ", 2);
                if (words[0].equals("take")) {
                    held.put(words[1], holdfast.lock(words[1], options).acquire());
                } else {
                    held.remove(words[1]).close();
                }
                System.out.println(line);
                System.out.flush();
            }
        }
    }
}
