package io.holdfast.spring.plan;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.support.CronExpression;

/** The shortest time between two runs of a scheduled method. */
final class SchedulePeriod {

    /** All steps between the runs of a minute or of an hour, as far as people write such. */
    private static final int RUNS_LOOKED_AT = 100;

    private static final Duration LONGEST_MIN_HOLD = Duration.ofSeconds(30);

    private SchedulePeriod() {}

    /** Half the period, at most 30 s: over before the next run, longer than clocks differ. */
    static Duration minHold(Duration period) {
        Duration half = period.dividedBy(2);
        return half.compareTo(LONGEST_MIN_HOLD) < 0 ? half : LONGEST_MIN_HOLD;
    }

    /** Empty if the method is not scheduled, or runs once. */
    static Optional<Duration> of(Method method, UnaryOperator<String> placeholders) {
        return AnnotatedElementUtils.findMergedRepeatableAnnotations(method, Scheduled.class, Schedules.class).stream()
                .flatMap(schedule -> periodOf(schedule, placeholders))
                .min(Duration::compareTo);
    }

    private static Stream<Duration> periodOf(Scheduled schedule, UnaryOperator<String> placeholders) {
        long fixed = Math.max(schedule.fixedRate(), schedule.fixedDelay());
        if (fixed >= 0) {
            return Stream.of(Duration.of(fixed, schedule.timeUnit().toChronoUnit()));
        }
        String text = placeholders.apply(
                schedule.fixedRateString().isEmpty() ? schedule.fixedDelayString() : schedule.fixedRateString());
        if (!text.isEmpty()) {
            return Stream.of(
                    text.chars().allMatch(Character::isDigit)
                            ? Duration.of(
                                    Long.parseLong(text), schedule.timeUnit().toChronoUnit())
                            : DurationFormatterUtils.detectAndParse(text));
        }
        String cron = placeholders.apply(schedule.cron());
        if (cron.isEmpty() || cron.equals(Scheduled.CRON_DISABLED)) {
            return Stream.empty();
        }
        return shortestStep(CronExpression.parse(cron)).stream();
    }

    /** Steps of an expression differ, as those of {@code 10,50 * * * * *}. */
    private static Optional<Duration> shortestStep(CronExpression expression) {
        List<LocalDateTime> runs = Stream.iterate(
                        expression.next(LocalDateTime.of(2024, 1, 1, 0, 0)), Objects::nonNull, expression::next)
                .limit(RUNS_LOOKED_AT)
                .toList();
        return IntStream.range(1, runs.size())
                .mapToObj(i -> Duration.between(runs.get(i - 1), runs.get(i)))
                .min(Duration::compareTo);
    }
}
