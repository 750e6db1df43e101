package io.holdfast.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class FileNamesTest {

    private static final List<String> NAMES = List.of(
            "job",
            "Job",
            "job ",
            "a",
            "a/b",
            "a%2Fb",
            "a%252Fb",
            "{a}",
            "x}y",
            ".",
            "..",
            "...",
            ".hidden",
            ".life-1",
            "a~b",
            "a.lock",
            "a.lock.lock",
            "\uD83D\uDD12",
            "ä",
            "a\nb",
            "a\\b",
            "-rf",
            "*",
            "x".repeat(250),
            "x".repeat(251),
            "x".repeat(512),
            "x".repeat(511) + "y",
            "/".repeat(80),
            "/".repeat(512),
            "/".repeat(511) + "a",
            "ü".repeat(256));

    @Test
    void plainNamesEncodeToThemselves() {
        assertThat(FileNames.of("nightly-report_2.v1")).isEqualTo("nightly-report_2.v1.lock");
    }

    @Test
    void differentNamesAreDifferentFiles() {
        assertThat(NAMES.stream().map(FileNames::of).collect(Collectors.toSet()))
                .hasSize(NAMES.size());
    }

    @Test
    void everyNameIsOneSafeFileName() {
        assertThat(NAMES.stream().map(FileNames::of)).allSatisfy(file -> {
            assertThat(file).doesNotContain("/").doesNotStartWith(".").endsWith(".lock");
            assertThat(file.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(255);
            assertThat(FileNames.isLockFile(file)).isTrue();
        });
    }

    @Test
    void namesThatFitAreReadBackFromTheFileName() {
        List<String> fitting = NAMES.stream()
                .filter(name -> FileNames.of(name).indexOf('~') < 0)
                .toList();

        assertThat(fitting).contains("..", "a/b", "x".repeat(250)).doesNotContain("x".repeat(251));
        assertThat(fitting.stream()
                        .map(name -> FileNames.lockOf(FileNames.of(name)).orElseThrow()))
                .containsExactlyElementsOf(fitting);
    }

    @Test
    void foreignFileNamesBelongToNoLock() {
        for (String foreign :
                Arrays.asList("README", ".holdfast", ".lock", "a%.lock", "a%2.lock", "a%2f.lock", "%61.lock")) {
            assertThat(FileNames.lockOf(foreign)).as(foreign).isEmpty();
        }
    }
}
