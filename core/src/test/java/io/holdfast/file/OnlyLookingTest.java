package io.holdfast.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Looking at a lock directory")
class OnlyLookingTest {

    private static final String LONG_NAME = "long/".repeat(60);

    @TempDir
    Path temporary;

    @Test
    void doesNotMakeIt() {
        Path missing = temporary.resolve("missing/locks");
        try (Holdfast holdfast = Holdfast.connect("file:" + missing)) {
            assertThat(holdfast.locks("")).isEmpty();
            assertThat(holdfast.lock("job").inspect().isHeld()).isFalse();
        }
        assertThat(temporary.resolve("missing")).doesNotExist();
    }

    @Test
    void leavesNothingInOneThatHasNoLocks() throws IOException {
        try (Holdfast holdfast = Holdfast.connect("file:" + temporary)) {
            assertThat(holdfast.locks("")).isEmpty();
        }
        assertThat(filesIn(temporary)).isEmpty();
    }

    @Test
    void leavesOneWithLocksAsItIs() throws IOException, InterruptedException {
        try (Holdfast holder = Holdfast.connect("file:" + temporary);
                Lease held = holder.lock("job").acquire()) {
            List<String> before = filesIn(temporary);
            try (Holdfast holdfast = Holdfast.connect("file:" + temporary)) {
                assertThat(holdfast.locks("")).hasSize(1);
            }
            assertThat(filesIn(temporary)).isEqualTo(before);
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void needsNoMoreThanReadingIt() throws Exception {
        Path locks = Files.createDirectory(temporary.resolve("locks"));
        try (Holdfast holder = Holdfast.connect("file:" + locks);
                ChildProcess killed = ChildProcess.start(locks);
                Lease held = holder.lock("job").acquire();
                Lease longNamed = holder.lock(LONG_NAME).acquire()) {
            holder.lock("idle").run(() -> {});
            holder.lock("kept", LockOptions.defaults().withMinHold(Duration.ofSeconds(25)))
                    .run(() -> {});
            assertThat(killed.ask("try dead 60000")).isNotEqualTo("refused");
            killed.close();
            letAllReadAndNobodyWrite(locks);
            List<String> before = filesIn(locks);

            String seen = lookAsOneWhoMayOnlyRead(locks);

            assertThat(seen.lines())
                    .containsExactly(
                            "job held by " + ProcessHandle.current().pid() + " token " + held.token(),
                            "kept released",
                            LONG_NAME + " held by " + ProcessHandle.current().pid() + " token " + longNamed.token(),
                            "show job: true",
                            "show idle: false",
                            "show dead: false",
                            "show never: false");
            assertThat(filesIn(locks)).isEqualTo(before);
            Files.setPosixFilePermissions(locks, PosixFilePermissions.fromString("rwx------"));
        }
    }

    private static List<String> filesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private void letAllReadAndNobodyWrite(Path locks) throws IOException {
        try (Stream<Path> files = Files.list(locks)) {
            for (Path file : files.toList()) {
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
            }
        }
        Files.setPosixFilePermissions(locks, PosixFilePermissions.fromString("r-xr-xr-x"));
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** Permissions do not bind root, who therefore becomes somebody else. */
    private String lookAsOneWhoMayOnlyRead(Path locks) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>();
        if ("root".equals(System.getProperty("user.name"))) {
            line.addAll(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        }
        line.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                readableCopy("classes", FileStore.class) + ":" + readableCopy("test-classes", OnlyLookingTest.class),
                OnlyLookingTest.class.getName() + "$Looker",
                locks.toString()));
        Process looking = new ProcessBuilder(line)
                .directory(temporary.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(looking.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(looking.waitFor()).as(said).isZero();
        return said;
    }

    /** Where another user can read it, wherever this was built. */
    private Path readableCopy(String name, Class<?> one) throws IOException {
        Path source =
                Path.of(one.getProtectionDomain().getCodeSource().getLocation().getPath());
        Path copy = temporary.resolve(name);
        try (Stream<Path> files = Files.walk(source)) {
            for (Path file : files.toList()) {
                Path target = copy.resolve(source.relativize(file));
                Files.copy(file, target);
                Files.setPosixFilePermissions(
                        target, PosixFilePermissions.fromString(Files.isDirectory(target) ? "rwxr-xr-x" : "r--r--r--"));
            }
        }
        return copy;
    }

    /** What the other process does. */
    static final class Looker {

        private Looker() {}

        public static void main(String[] arguments) {
            try (Holdfast holdfast = Holdfast.connect("file:" + arguments[0])) {
                holdfast.locks("")
                        .forEach(view -> view.holders()
                                .forEach(holder -> System.out.println(view.name()
                                        + (holder.isLingering()
                                                ? " released"
                                                : " held by "
                                                        + holder.origin()
                                                                .orElseThrow()
                                                                .pid() + " token " + holder.token()))));
                for (String name : List.of("job", "idle", "dead", "never")) {
                    System.out.println("show " + name + ": "
                            + holdfast.lock(name).inspect().isHeld());
                }
            }
        }
    }
}
