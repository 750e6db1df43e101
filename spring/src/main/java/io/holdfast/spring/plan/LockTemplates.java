package io.holdfast.spring.plan;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.springframework.aop.framework.AopInfrastructureBean;

/**
 * Tells by its name from which {@code @Locked} or {@code @ScheduledLock} a lock comes: for tags of meters, of which there must be few
 * however many locks there are. Thread-safe.
 */
public final class LockTemplates implements AopInfrastructureBean {

    private final LockPlans plans;
    private volatile List<NameTemplate> templates = List.of();

    public LockTemplates(LockPlans plans) {
        this.plans = plans;
    }

    /** Called when all methods have been looked at. */
    public void collect() {
        templates = plans.templates()
                .filter(template -> template.literalLength() > 0)
                .sorted(Comparator.comparingInt(NameTemplate::literalLength).reversed())
                .toList();
    }

    /**
     * The template with the names of what it asks for, such as {@code stock/{sku}} for a lock {@code stock/42} and the template
     * <code>stock/#{#order.sku}</code>; of several that would fit, the one with the most text. Empty for other locks, and for those
     * of a template that is nothing but an expression.
     */
    public Optional<String> of(String lock) {
        for (NameTemplate template : templates) {
            if (template.matches(lock)) {
                return Optional.of(template.pattern());
            }
        }
        return Optional.empty();
    }
}
