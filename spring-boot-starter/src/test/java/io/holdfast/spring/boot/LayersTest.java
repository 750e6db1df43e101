package io.holdfast.spring.boot;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the modules above the API may use. The command, whose tests look at the layers below, has none of them. */
@DisplayName("layers of the integrations")
class LayersTest {

    private static final String ROOM = "io.holdfast.spring.%s";

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.holdfast");

    @Test
    void allModulesAreLookedAt() {
        assertThat(CLASSES.contain("io.holdfast.spring.Locked")).isTrue();
        assertThat(CLASSES.contain("io.holdfast.micrometer.HoldfastMetrics")).isTrue();
        assertThat(CLASSES.contain("io.holdfast.testing.TestLocks")).isTrue();
        assertThat(CLASSES.contain("io.holdfast.internal.Client")).isTrue();
    }

    @Test
    void nothingBelowKnowsSpringOrMicrometer() {
        noClasses()
                .that()
                .resideOutsideOfPackages("io.holdfast.spring..", "io.holdfast.micrometer")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.springframework..", "io.micrometer..", "io.holdfast.spring..")
                .check(CLASSES);
    }

    @Test
    void metricsNeedNoSpringAndSpringNeedsNoBoot() {
        noClasses()
                .that()
                .resideInAPackage("io.holdfast.micrometer")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.springframework..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage("io.holdfast.spring", ROOM.formatted("*"))
                .and()
                .resideOutsideOfPackage("io.holdfast.spring.boot..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.springframework.boot..", "io.holdfast.spring.boot..", "io.micrometer..")
                .check(CLASSES);
    }

    /** Each may know those after it, and all of them the annotations. */
    @Test
    void roomsOfSpringKnowEachOtherInOneDirection() {
        List<String> rooms = List.of("config", "aot", "start", "call", "transaction", "plan", "held");
        for (int room = 1; room < rooms.size(); room++) {
            noClasses()
                    .that()
                    .resideInAPackage(ROOM.formatted(rooms.get(room)))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            rooms.subList(0, room).stream().map(ROOM::formatted).toArray(String[]::new))
                    .check(CLASSES);
        }
        noClasses()
                .that()
                .resideInAPackage(ROOM.formatted("adapter"))
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.holdfast.spring")
                .orShould()
                .dependOnClassesThat()
                .resideInAnyPackage(rooms.stream().map(ROOM::formatted).toArray(String[]::new))
                .check(CLASSES);
    }

    @Test
    void integrationsUseTheApiAndNotTheEngine() {
        noClasses()
                .that()
                .resideInAnyPackage("io.holdfast.spring..", "io.holdfast.micrometer", "io.holdfast.testing")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.holdfast.internal..")
                .check(CLASSES);
    }
}
