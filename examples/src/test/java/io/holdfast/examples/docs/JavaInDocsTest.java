package io.holdfast.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compiles every block of Java in the pages. What a block takes for granted, such as a lock or an order, {@link Surroundings} has. A
 * block in which "…" stands for code is compiled with nothing in its place. One that is only a piece of an expression says so: it
 * begins with {@code ```java piece}.
 */
@DisplayName("Java in the pages")
class JavaInDocsTest {

    private static final Path ROOT = Path.of("..");

    @TempDir
    Path classes;

    @TestFactory
    Stream<DynamicTest> compiles() throws IOException {
        return blocks().stream().map(block -> DynamicTest.dynamicTest(block.toString(), () -> compile(block.source())));
    }

    @Test
    void isFound() throws IOException {
        assertThat(blocks()).hasSizeGreaterThan(10).anyMatch(block -> block.page.endsWith("quick-start.md"));
    }

    @Test
    void doesNotCompileIfItIsWrong() {
        String wrong = new Block("page.md", 1, "lock.acquire().tokn();").source();

        assertThat(errors(wrong)).contains("tokn");
    }

    private void compile(String source) {
        assertThat(errors(source)).as(source).isEmpty();
    }

    private String errors(String source) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        JavaFileObject file =
                new SimpleJavaFileObject(
                        URI.create("string:///" + nameIn(source) + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        List<String> options = List.of(
                "-proc:none", "-parameters", "-d", classes.toString(), "-cp", System.getProperty("java.class.path"));
        compiler.getTask(null, null, diagnostics, options, null, List.of(file)).call();
        return diagnostics.getDiagnostics().stream()
                .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
                .map(diagnostic -> diagnostic.getMessage(Locale.ROOT))
                .collect(Collectors.joining("; "));
    }

    private static String nameIn(String source) {
        return source.replaceFirst("(?s).*?\\bclass (\\w+).*", "$1");
    }

    private static List<Block> blocks() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md"), ROOT.resolve("README.zh-CN.md")));
        pages.add(ROOT.resolve("tck/README.md"));
        for (String directory : List.of("docs", "docs/stores")) {
            try (Stream<Path> files = Files.list(ROOT.resolve(directory))) {
                files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
            }
        }
        List<Block> blocks = new ArrayList<>();
        for (Path page : pages) {
            blocks.addAll(blocks(page));
        }
        return blocks;
    }

    private static List<Block> blocks(Path page) throws IOException {
        List<Block> blocks = new ArrayList<>();
        StringBuilder block = null;
        int start = 0;
        int number = 0;
        for (String line : Files.readAllLines(page)) {
            number++;
            if (block == null && line.equals("```java")) {
                block = new StringBuilder();
                start = number;
            } else if (block != null && line.equals("```")) {
                blocks.add(new Block(ROOT.relativize(page).toString(), start, block.toString()));
                block = null;
            } else if (block != null) {
                block.append(line).append('\n');
            }
        }
        return blocks;
    }

    private record Block(String page, int line, String text) {

        @Override
        public String toString() {
            return page + ":" + line;
        }

        /** As a compilation unit. */
        String source() {
            String code = filledIn();
            if (code.startsWith("import ")) {
                return code;
            }
            String head = "import static io.holdfast.examples.docs.Surroundings.*;\n" + Surroundings.IMPORTS;
            if (code.lines().anyMatch(line -> line.matches("(public )?(abstract )?class .*"))) {
                return head + code;
            }
            if (code.startsWith("@") || code.startsWith("public ")) {
                return head + "class Block extends io.holdfast.examples.docs.Surroundings {\n" + code + "}\n";
            }
            return head
                    + "class Block extends io.holdfast.examples.docs.Surroundings {\nvoid block() throws Exception {\n"
                    + code + "}}\n";
        }

        /** What "…" stands for does not matter here. */
        private String filledIn() {
            return text.replace("{ … }", "{ throw new UnsupportedOperationException(); }")
                    .replace("-> …", "-> null")
                    .lines()
                    .filter(line -> !line.matches("[^\"]*….*"))
                    .map(line -> line + "\n")
                    .collect(Collectors.joining());
        }
    }
}
