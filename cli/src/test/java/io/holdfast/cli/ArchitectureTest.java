package io.holdfast.cli;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.holdfast.spi.StoreProvider;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The layers as drawn in the design: dependencies point downwards only, over all modules on the class path. */
@DisplayName("architecture")
class ArchitectureTest {

    private static final String API = "io.holdfast";
    private static final String SPI = "io.holdfast.spi";
    private static final String SUPPORT = SPI + ".support";
    private static final String ENGINE = "io.holdfast.internal";

    /** The rooms of the engine: each enters only those that follow. What stands before them all may enter each. */
    private static final List<String> ROOMS = List.of("lock", "acquire", "lease", "ticket", "telemetry", "work");

    private static final String COMMAND = "io.holdfast.cli";

    /** The rooms of the command that have commands in them: they do not know each other. */
    private static final List<String> ROOMS_OF_COMMANDS = List.of("run", "locks", "trial");

    /** What those share. */
    private static final String CONSOLE = COMMAND + ".console";

    private static final String DASHBOARD = "io.holdfast.ui";
    private static final String PROXY = "io.holdfast.proxy";
    private static final String SERVERS = "io.holdfast.servers";

    /** Combines other stores, so it is the one store that others may build on. */
    private static final String QUORUM = "io.holdfast.quorum";

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(API);

    static Set<String> storePackages() {
        return ServiceLoader.load(StoreProvider.class).stream()
                .map(provider -> provider.type().getPackageName())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String[] storePackagesAndTheirRooms() {
        return storePackages().stream().map(store -> store + "..").toArray(String[]::new);
    }

    @Test
    void everyStoreOfTheFatJarIsLookedAt() {
        assertThat(storePackages()).contains("io.holdfast.memory", "io.holdfast.file", "io.holdfast.redis");
        assertThat(CLASSES.size()).isGreaterThan(100);
    }

    @Test
    void apiSpiAndEngineKnowNoStoreAndNoCommand() {
        noClasses()
                .that()
                .resideInAnyPackage(API, SPI + "..", ENGINE + "..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(storePackagesAndTheirRooms())
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackage(COMMAND + "..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(COMMAND + "..")
                .check(CLASSES);
    }

    @Test
    void theSpiDoesNotKnowTheEngine() {
        noClasses()
                .that()
                .resideInAPackage(SPI + "..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ENGINE + "..")
                .check(CLASSES);
    }

    @Test
    void onlyTheBuilderMakesAnEngine() {
        noClasses()
                .that()
                .resideInAPackage(API)
                .and()
                .doNotHaveSimpleName("HoldfastBuilder")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ENGINE + "..")
                .check(CLASSES);
    }

    @Test
    void everyRoomOfTheEngineHasItsPlaceInTheirOrder() {
        assertThat(roomsOf(ENGINE)).containsExactlyInAnyOrderElementsOf(ROOMS);
    }

    static List<String> rooms() {
        return ROOMS;
    }

    @ParameterizedTest
    @MethodSource("rooms")
    void aRoomOfTheEngineEntersOnlyThoseBelowIt(String room) {
        List<String> above = new ArrayList<>(List.of(ENGINE));
        ROOMS.subList(0, ROOMS.indexOf(room)).forEach(upper -> above.add(ENGINE + "." + upper));

        noClasses()
                .that()
                .resideInAPackage(ENGINE + "." + room)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(above.toArray(String[]::new))
                .check(CLASSES);
    }

    @Test
    void everyRoomOfTheCommandIsKnown() {
        assertThat(roomsOf(COMMAND))
                .contains("console")
                .containsAll(ROOMS_OF_COMMANDS)
                .hasSize(4);
    }

    static List<String> roomsOfCommands() {
        return ROOMS_OF_COMMANDS;
    }

    @ParameterizedTest
    @MethodSource("roomsOfCommands")
    void aRoomOfTheCommandEntersOnlyTheConsole(String room) {
        String own = COMMAND + "." + room;

        noClasses()
                .that()
                .resideInAPackage(own)
                .should()
                .dependOnClassesThat(are(describe(
                        "of the command, but neither of " + room + " nor of the console",
                        used -> isIn(COMMAND, used) && !Set.of(own, CONSOLE).contains(used.getPackageName()))))
                .check(CLASSES);
    }

    @Test
    void theConsoleKnowsNoCommand() {
        noClasses()
                .that()
                .resideInAPackage(CONSOLE)
                .should()
                .dependOnClassesThat(are(describe(
                        "of the command, but not of the console",
                        used -> isIn(COMMAND, used) && !used.getPackageName().equals(CONSOLE))))
                .check(CLASSES);
    }

    @Test
    void theCommandAndTheDashboardKnowNoStoreAndNoEngine() {
        noClasses()
                .that()
                .resideInAnyPackage(COMMAND + "..", DASHBOARD + "..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ENGINE + "..")
                .orShould()
                .dependOnClassesThat()
                .resideInAnyPackage(storePackagesAndTheirRooms())
                .check(CLASSES);
    }

    @Test
    void onlyTheCommandServesTheDashboard() {
        noClasses()
                .that()
                .resideOutsideOfPackages(COMMAND + "..", DASHBOARD + "..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(DASHBOARD + "..")
                .check(CLASSES);
    }

    @ParameterizedTest
    @MethodSource("storePackages")
    void aStoreUsesOnlyApiAndSpi(String store) {
        classes()
                .that()
                .resideInAPackage(store + "..")
                .should()
                .onlyDependOnClassesThat(are(describe(
                        "of the API, the SPI, its own or foreign",
                        used -> !used.getPackageName().startsWith(API)
                                || Set.of(API, SPI, SUPPORT, QUORUM).contains(used.getPackageName())
                                || isIn(store, used))))
                .check(CLASSES);
    }

    /** Beside these a store may offer recipes, which do not touch the SPI. */
    @ParameterizedTest
    @MethodSource("storePackages")
    void aStoreShowsOneEntryClassAndItsProvider(String store) {
        List<String> shown = CLASSES.stream()
                .filter(type -> type.getPackageName().equals(store))
                .filter(type -> type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(type -> type.getDirectDependenciesFromSelf().stream()
                        .anyMatch(used -> used.getTargetClass().getPackageName().equals(SPI)))
                .map(JavaClass::getSimpleName)
                .toList();

        assertThat(shown).hasSizeBetween(1, 2);
    }

    @ParameterizedTest
    @MethodSource("storePackages")
    void onlyAStoreEntersItsOwnRooms(String store) {
        noClasses()
                .that()
                .resideOutsideOfPackage(store + "..")
                .should()
                .dependOnClassesThat(are(describe("in a sub-package of " + store, used -> isInRoomOf(store, used))))
                .check(CLASSES);
    }

    /** On the class path of these tests for their own sake: the command is shipped without it. */
    @Test
    void nothingThatIsShippedUsesLaunchersOfServers() {
        noClasses()
                .that()
                .resideOutsideOfPackage(SERVERS + "..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(SERVERS + "..")
                .check(CLASSES);
    }

    @Test
    void theProxyAndTheServersKnowNoLocks() {
        noClasses()
                .that()
                .resideInAnyPackage(PROXY, SERVERS + "..")
                .should()
                .dependOnClassesThat(are(describe(
                        "of Holdfast, but neither proxy nor servers",
                        used -> isIn(API, used) && !isIn(PROXY, used) && !isIn(SERVERS, used))))
                .check(CLASSES);
    }

    @Test
    void theRoomsOfTheServersKnowNoServer() {
        assertThat(roomsOf(SERVERS)).containsExactly("process", "wire");
        noClasses()
                .that()
                .resideInAnyPackage(SERVERS + ".process", SERVERS + ".wire")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(SERVERS)
                .check(CLASSES);
    }

    @Test
    void publicSignaturesShowNothingInternal() {
        methods()
                .that()
                .areDeclaredInClassesThat(are(describe(
                        "of the API, the SPI or an entrance to a store",
                        type -> type.getPackageName().equals(API)
                                || isIn(SPI, type)
                                || storePackages().contains(type.getPackageName()))))
                .and()
                .arePublic()
                .and()
                .areDeclaredInClassesThat()
                .arePublic()
                .should(showNothingInternal())
                .check(CLASSES);
    }

    @Test
    void theEngineReadsNoWallClock() {
        noClasses()
                .that()
                .resideInAPackage(ENGINE + "..")
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Instant.class, "now")
                .check(CLASSES);
    }

    @Test
    void nothingIsKeptInThreadLocals() {
        noClasses()
                .that()
                .resideInAnyPackage(API, SPI + "..", ENGINE + "..")
                .should()
                .dependOnClassesThat()
                .areAssignableTo(ThreadLocal.class)
                .check(CLASSES);
    }

    @Test
    void libraryCodeLogsThroughSystemLoggerOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackages(COMMAND + "..", SERVERS + "..")
                .and()
                .areNotAssignableTo(DataSource.class) // its own interface names java.util.logging
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.util.logging", "org.slf4j..")
                .check(CLASSES);
    }

    @Test
    void nobodyWaitsOrDoesInputAndOutputInASynchronizedMethod() {
        methods()
                .that()
                .haveModifier(JavaModifier.SYNCHRONIZED)
                .should(notBlock())
                .allowEmptyShould(true)
                .check(CLASSES);
    }

    private static Set<String> roomsOf(String packageAbove) {
        return CLASSES.stream()
                .map(JavaClass::getPackageName)
                .filter(name -> name.startsWith(packageAbove + "."))
                .map(name -> name.substring(packageAbove.length() + 1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isIn(String packageAndBelow, JavaClass type) {
        return type.getPackageName().equals(packageAndBelow) || isInRoomOf(packageAndBelow, type);
    }

    private static boolean isInRoomOf(String packageAbove, JavaClass type) {
        return type.getPackageName().startsWith(packageAbove + ".");
    }

    /** The engine, and what a store keeps in sub-packages. */
    private static ArchCondition<JavaMethod> showNothingInternal() {
        Set<String> stores = storePackages();
        DescribedPredicate<JavaClass> internal = describe(
                "internal", type -> isIn(ENGINE, type) || stores.stream().anyMatch(store -> isInRoomOf(store, type)));
        return new ArchCondition<>("show nothing internal") {
            @Override
            public void check(JavaMethod method, ConditionEvents events) {
                boolean shows = internal.test(method.getRawReturnType())
                        || method.getRawParameterTypes().stream().anyMatch(internal)
                        || method.getExceptionTypes().stream().anyMatch(type -> internal.test(type.toErasure()));
                events.add(new SimpleConditionEvent(method, !shows, method.getFullName()));
            }
        };
    }

    private static ArchCondition<JavaMethod> notBlock() {
        List<String> blocking = List.of(
                "java.io.",
                "java.net.",
                "java.nio.channels.",
                "java.sql.",
                "redis.clients.",
                "java.util.concurrent.locks.");
        Set<String> waits = Set.of("sleep", "wait", "join", "await", "get", "take");
        return new ArchCondition<>("not block") {
            @Override
            public void check(JavaMethod method, ConditionEvents events) {
                for (JavaCall<?> call : method.getCallsFromSelf()) {
                    String owner = call.getTargetOwner().getFullName();
                    boolean blocks = blocking.stream().anyMatch(owner::startsWith)
                            || (owner.startsWith("java.util.concurrent.")
                                            || owner.equals("java.lang.Thread")
                                            || owner.equals("java.lang.Object"))
                                    && waits.contains(call.getName());
                    events.add(new SimpleConditionEvent(method, !blocks, call.getDescription()));
                }
            }
        };
    }
}
