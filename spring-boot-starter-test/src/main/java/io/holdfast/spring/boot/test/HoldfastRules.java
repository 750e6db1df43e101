package io.holdfast.spring.boot.test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.holdfast.spring.Locked;
import io.holdfast.spring.RunsEverywhere;
import io.holdfast.spring.ScheduledLock;
import java.lang.annotation.Annotation;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;

/**
 * Rules for the code of applications, to be checked with ArchUnit.
 *
 * <pre>{@code
 * @Test
 * void noJobRunsOnAllInstancesByMistake() {
 *     HoldfastRules.scheduledMethodsAreLocked().check(new ClassFileImporter().importPackages("com.example.shop"));
 * }
 * }</pre>
 *
 * <p>Needs {@code com.tngtech.archunit:archunit}.
 */
public final class HoldfastRules {

    private HoldfastRules() {}

    /**
     * Every {@code @Scheduled} method has a {@link ScheduledLock}, or a {@link Locked}, or it or its class says by
     * {@link RunsEverywhere} that it needs none.
     */
    public static ArchRule scheduledMethodsAreLocked() {
        return methods()
                .that(DescribedPredicate.describe("are scheduled", HoldfastRules::isScheduled))
                .should(beLockedOrRunEverywhere())
                .allowEmptyShould(true);
    }

    private static ArchCondition<JavaMethod> beLockedOrRunEverywhere() {
        return new ArchCondition<>("be locked or say that they run everywhere") {
            @Override
            public void check(JavaMethod method, ConditionEvents events) {
                if (!has(method, ScheduledLock.class)
                        && !has(method, Locked.class)
                        && !has(method, RunsEverywhere.class)
                        && !method.getOwner().isAnnotatedWith(RunsEverywhere.class)) {
                    events.add(SimpleConditionEvent.violated(
                            method,
                            method.getFullName() + " is @Scheduled and runs on every instance: add @ScheduledLock, or"
                                    + " @RunsEverywhere if that is meant " + method.getSourceCodeLocation()));
                }
            }
        };
    }

    private static boolean isScheduled(JavaMethod method) {
        return has(method, Scheduled.class) || has(method, Schedules.class);
    }

    private static boolean has(JavaMethod method, Class<? extends Annotation> annotation) {
        return method.isAnnotatedWith(annotation) || method.isMetaAnnotatedWith(annotation);
    }
}
