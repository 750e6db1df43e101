package io.holdfast.bench.compare.arena;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The versions of the servers on this machine. */
public final class ServerVersions {

    private static final Map<String, List<String>> COMMANDS = new LinkedHashMap<>();
    private static final Pattern VERSION = Pattern.compile("\\d+\\.\\d+(?:\\.\\d+)*");

    static {
        COMMANDS.put("redis-server", List.of("redis-server", "--version"));
        COMMANDS.put("etcd", List.of("etcd", "--version"));
        COMMANDS.put("mariadbd", List.of("mariadbd", "--version"));
        COMMANDS.put("postgres", List.of("postgres", "--version"));
    }

    private ServerVersions() {}

    public static Map<String, String> installed() {
        Map<String, String> versions = new LinkedHashMap<>();
        COMMANDS.forEach((name, command) -> {
            try {
                Process process =
                        new ProcessBuilder(command).redirectErrorStream(true).start();
                Matcher matcher =
                        VERSION.matcher(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
                if (matcher.find()) {
                    versions.put(name, matcher.group());
                }
            } catch (IOException notInstalled) {
                // The server's own launcher says how to install it.
            }
        });
        return versions;
    }
}
