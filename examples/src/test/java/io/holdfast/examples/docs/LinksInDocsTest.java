package io.holdfast.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Links of the pages to files of the repository, and to headings in them. */
@DisplayName("links in the pages")
class LinksInDocsTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");

    @TestFactory
    Stream<DynamicTest> leadSomewhere() throws IOException {
        List<Path> pages = new ArrayList<>();
        for (String place : List.of("", "docs", "docs/stores", "docs/adr", "examples", "tck", "spec")) {
            try (Stream<Path> files = Files.list(ROOT.resolve(place))) {
                files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
            }
        }
        assertThat(pages).hasSizeGreaterThan(20);
        return pages.stream()
                .map(page -> DynamicTest.dynamicTest(
                        ROOT.relativize(page).toString(),
                        () -> assertThat(broken(page, Files.readString(page))).isEmpty()));
    }

    @Test
    void areFoundOutIfTheyDoNot() throws IOException {
        Path page = ROOT.resolve("docs/faq.md");

        assertThat(broken(page, "[a](missing.md) [b](faq.md#nowhere) [c](faq.md#is-it-fair) [d](https://x/y)"))
                .containsExactly("missing.md", "faq.md#nowhere");
    }

    private static List<String> broken(Path page, String text) throws IOException {
        List<String> broken = new ArrayList<>();
        String prose = text.replaceAll("(?ms)^```.*?^```$", "");
        for (String link :
                LINK.matcher(prose).results().map(match -> match.group(1)).toList()) {
            if (!link.contains(":") && !leadsSomewhere(page, link)) {
                broken.add(link);
            }
        }
        return broken;
    }

    private static boolean leadsSomewhere(Path page, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
        if (!Files.exists(target)) {
            return false;
        }
        return parts.length == 1 || headings(target).contains(parts[1]);
    }

    /** As GitHub names them. */
    private static List<String> headings(Path page) throws IOException {
        return Pattern.compile("(?m)^#+ (.*)$")
                .matcher(Files.readString(page))
                .results()
                .map((MatchResult heading) -> heading.group(1)
                        .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                        .strip()
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_\\- ]", "")
                        .replace(' ', '-'))
                .toList();
    }
}
