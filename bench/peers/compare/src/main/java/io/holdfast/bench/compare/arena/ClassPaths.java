package io.holdfast.bench.compare.arena;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Where each contender's classes are: every library has a class path of its own. Immutable. */
public final class ClassPaths {

    private static final Pattern VERSIONED = Pattern.compile("(.+?)-(\\d[\\w.]*?)\\.jar");
    private static final List<String> NAMED = List.of(
            "redisson",
            "spring-integration-redis",
            "spring-integration-jdbc",
            "curator-recipes",
            "jetcd-core",
            "shedlock-provider-jdbc",
            "jedis",
            "zookeeper",
            "grpc-netty-shaded",
            "mariadb-java-client",
            "postgresql",
            "lettuce-core");

    private final Path peers;

    /** @param peers the directory with the modules of the peers, built */
    public ClassPaths(Path peers) {
        this.peers = peers;
    }

    public List<String> own() {
        return Arrays.asList(System.getProperty("java.class.path").split(File.pathSeparator));
    }

    public List<String> of(String module) {
        Path target = peers.resolve(module).resolve("target");
        if (!Files.isDirectory(target.resolve("lib"))) {
            throw new IllegalStateException(target + " is not built");
        }
        List<String> entries = new ArrayList<>();
        entries.add(target.resolve("classes").toString());
        entries.add(target.resolve("lib").resolve("*").toString());
        return entries;
    }

    /** The versions of the libraries that matter, by name. */
    public TreeMap<String, String> versions() {
        TreeMap<String, String> versions = new TreeMap<>();
        try (Stream<Path> files = Files.walk(peers, 4)) {
            files.map(file -> VERSIONED.matcher(file.getFileName().toString()))
                    .filter(Matcher::matches)
                    .filter(matcher -> NAMED.contains(matcher.group(1)))
                    .forEach(matcher -> versions.put(matcher.group(1), matcher.group(2)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return versions;
    }
}
