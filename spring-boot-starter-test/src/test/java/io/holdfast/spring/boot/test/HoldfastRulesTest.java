package io.holdfast.spring.boot.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.EvaluationResult;
import io.holdfast.spring.Locked;
import io.holdfast.spring.RunsEverywhere;
import io.holdfast.spring.ScheduledLock;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.scheduling.annotation.Scheduled;

@DisplayName("rules for users")
class HoldfastRulesTest {

    static class Careful {
        @Scheduled(fixedRate = 1000)
        @ScheduledLock
        public void locked() {}

        @Scheduled(fixedRate = 1000)
        @Locked("a")
        public void lockedOtherwise() {}

        @Scheduled(fixedRate = 1000)
        @RunsEverywhere("empties a cache of this instance")
        public void everywhere() {}

        @Nightly
        public void byAnAnnotationOfItsOwn() {}

        public void notScheduled() {}
    }

    @RunsEverywhere
    static class AllEverywhere {
        @Scheduled(fixedRate = 1000)
        public void work() {}
    }

    @Scheduled(cron = "0 0 3 * * *")
    @ScheduledLock
    @Retention(RetentionPolicy.RUNTIME)
    @interface Nightly {}

    @Scheduled(cron = "0 0 3 * * *")
    @Retention(RetentionPolicy.RUNTIME)
    @interface NightlyUnlocked {}

    static class Forgetful {
        @Scheduled(fixedRate = 1000)
        public void once() {}

        @Scheduled(fixedRate = 1000)
        @Scheduled(fixedRate = 7000)
        public void twice() {}

        @NightlyUnlocked
        public void nightly() {}
    }

    @Test
    void lockedJobsAndThoseThatSayTheyRunEverywhereAreFine() {
        assertThatCode(() -> HoldfastRules.scheduledMethodsAreLocked()
                        .check(new ClassFileImporter()
                                .importClasses(Careful.class, AllEverywhere.class, Nightly.class)))
                .doesNotThrowAnyException();
    }

    @Test
    void aJobWhoseLockWasForgottenIsNamedWithTheNextStep() {
        EvaluationResult result = HoldfastRules.scheduledMethodsAreLocked()
                .evaluate(new ClassFileImporter().importClasses(Forgetful.class, NightlyUnlocked.class));

        assertThat(result.getFailureReport().getDetails())
                .hasSize(3)
                .allMatch(detail -> detail.contains("add @ScheduledLock, or @RunsEverywhere if that is meant"))
                .anyMatch(detail -> detail.contains("Forgetful.once()"))
                .anyMatch(detail -> detail.contains("Forgetful.twice()"))
                .anyMatch(detail -> detail.contains("Forgetful.nightly()"));
    }
}
