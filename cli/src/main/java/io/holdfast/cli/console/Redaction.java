package io.holdfast.cli.console;

import io.holdfast.spi.StoreUri;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Takes credentials out of text before it is shown. Stores keep theirs to themselves; this also covers what a person
 * typed in the wrong place, which an error message would repeat. Immutable.
 */
public final class Redaction {

    /** Up to the last one: a password may have any character that somebody forgot to escape. */
    private static final Pattern USER_INFO = Pattern.compile("//\\S*@");
    /** The same in what is not quite a URI, and not a path. */
    private static final Pattern USER_AND_PASSWORD = Pattern.compile("[^\\s/:'\"]+:(?!/)[^\\s'\"]+@");

    /** Where a store has left the value out already, the colon behind it stays. */
    private static final Pattern SECRET_VALUE = Pattern.compile(
            "(?i)((?:password|passwd|pwd|secret|token)[a-z]*=)(?:\\*{3}(?=[:.,]?(?:\\s|$))|[^&;\\s'\"]*)");

    private static final int SHORTEST_SECRET = 4;

    private final List<String> secrets;

    private Redaction(List<String> secrets) {
        this.secrets = secrets;
    }

    /** Knows the passwords in the URIs among these arguments and in the environment. */
    public static Redaction of(String[] arguments, Map<String, String> environment) {
        List<String> secrets = new ArrayList<>();
        for (String argument : arguments) {
            addPassword(argument.startsWith("--store=") ? argument.substring("--store=".length()) : argument, secrets);
        }
        addPassword(environment.getOrDefault(CommonOptions.STORE_VARIABLE, ""), secrets);
        return new Redaction(secrets);
    }

    private static void addPassword(String text, List<String> secrets) {
        if (text.contains("://")) {
            try {
                StoreUri.parse(text)
                        .password()
                        .filter(password -> password.length() >= SHORTEST_SECRET)
                        .ifPresent(secrets::add);
            } catch (IllegalArgumentException notAUri) {
                // Then the patterns have to do.
            }
        }
    }

    public String apply(String text) {
        String safe = text;
        for (String secret : secrets) {
            safe = safe.replace(secret, "***");
        }
        if (safe.contains("@")) {
            safe = USER_INFO.matcher(safe).replaceAll("//***@");
            safe = USER_AND_PASSWORD.matcher(safe).replaceAll("***@");
        }
        return safe.contains("=") ? SECRET_VALUE.matcher(safe).replaceAll("$1***") : safe;
    }
}
