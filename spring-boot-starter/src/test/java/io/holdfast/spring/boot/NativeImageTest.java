package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.GeneratedMessageLite;
import io.holdfast.Holdfast;
import io.holdfast.etcd.EtcdStores;
import io.holdfast.jdbc.JdbcStores;
import io.holdfast.redis.RedisStores;
import io.holdfast.spring.config.HoldfastLocking;
import io.holdfast.zookeeper.ZooKeeperStores;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;

@DisplayName("native images")
class NativeImageTest {

    private static final Pattern GLOB = Pattern.compile("\"glob\": \"([^\"]+)\"");

    static Stream<Arguments> modules() {
        return Stream.of(
                Arguments.of("core", Holdfast.class),
                Arguments.of("redis", RedisStores.class),
                Arguments.of("etcd", EtcdStores.class),
                Arguments.of("zookeeper", ZooKeeperStores.class),
                Arguments.of("jdbc", JdbcStores.class));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("modules")
    void getAllResourcesOfAModuleByItsMetadataAndByHints(String module, Class<?> inside) throws Exception {
        RuntimeHints hints = hints();
        try (Module files = Module.of(inside)) {
            String metadata =
                    files.text("META-INF/native-image/io.holdfast/holdfast-" + module + "/reachability-metadata.json");
            List<String> globs = GLOB.matcher(metadata)
                    .results()
                    .map(found -> found.group(1))
                    .toList();

            assertThat(files.resources()).isNotEmpty().allSatisfy(resource -> {
                assertThat(globs)
                        .as("metadata for " + resource)
                        .anyMatch(glob -> FileSystems.getDefault()
                                .getPathMatcher("glob:" + glob)
                                .matches(Path.of(resource)));
                assertThat(RuntimeHintsPredicates.resource().forResource(resource))
                        .as("hint for " + resource)
                        .accepts(hints);
            });
        }
    }

    @Test
    void reachTheFieldsOfAllMessagesToEtcd() throws Exception {
        try (Module files = Module.of(EtcdStores.class)) {
            String metadata = files.text("META-INF/native-image/io.holdfast/holdfast-etcd/reachability-metadata.json");

            assertThat(files.messages())
                    .isNotEmpty()
                    .allSatisfy(message -> assertThat(metadata)
                            .contains("{\"type\": \"" + message + "\", \"allDeclaredFields\": true}"));
        }
    }

    @Test
    void bindTheSettingsOfNamedClients() throws Exception {
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethodInvocation(ClientProperties.class.getMethod("setStore", String.class)))
                .accepts(hints());
    }

    private static RuntimeHints hints() {
        RuntimeHints hints = new RuntimeHints();
        ClassLoader loader = HoldfastLocking.class.getClassLoader();
        SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories", loader)
                .load(RuntimeHintsRegistrar.class)
                .stream()
                .filter(registrar -> registrar.getClass().getName().startsWith("io.holdfast"))
                .forEach(registrar -> registrar.registerHints(hints, loader));
        return hints;
    }

    /** The files of a module, in a directory or in a jar. */
    private record Module(Path root, AutoCloseable archive) implements AutoCloseable {

        static Module of(Class<?> inside) throws Exception {
            URI place =
                    inside.getProtectionDomain().getCodeSource().getLocation().toURI();
            if (place.getPath().endsWith(".jar")) {
                FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + place), Map.of());
                return new Module(jar.getPath("/"), jar);
            }
            return new Module(Path.of(place), () -> {});
        }

        String text(String file) throws Exception {
            return Files.readString(root.resolve(file));
        }

        List<String> files() throws Exception {
            try (Stream<Path> all = Files.walk(root)) {
                return all.filter(Files::isRegularFile)
                        .map(file -> root.relativize(file).toString())
                        .toList();
            }
        }

        /** What the module reads at run time. */
        List<String> resources() throws Exception {
            return files().stream()
                    .filter(file -> !file.endsWith(".class") && !file.endsWith(".proto"))
                    .filter(file -> !file.startsWith("META-INF/") || file.startsWith("META-INF/services/"))
                    .toList();
        }

        List<String> messages() throws Exception {
            return files().stream()
                    .filter(file -> file.endsWith(".class") && file.contains("/wire/"))
                    .map(file -> file.replace(".class", "").replace('/', '.'))
                    .filter(Module::isMessage)
                    .toList();
        }

        private static boolean isMessage(String name) {
            try {
                return GeneratedMessageLite.class.isAssignableFrom(
                        Class.forName(name, false, Module.class.getClassLoader()));
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() throws Exception {
            archive.close();
        }
    }
}
