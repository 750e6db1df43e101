package io.holdfast.spring.plan;

import io.holdfast.Holdfast;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spring.LockMisuseException;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnConflict;
import io.holdfast.spring.ScheduledLock;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

/** Reads the annotations of methods, once for each class of beans that has them, and refuses what cannot be. Thread-safe. */
public final class LockPlans {

    private static final Logger LOG = System.getLogger(LockPlans.class.getName());

    private final ConfigurableListableBeanFactory beans;
    private final Map<BeanMethod, Optional<LockPlan>> plans = new ConcurrentHashMap<>();
    private final Map<String, Holdfast> clients = new ConcurrentHashMap<>();

    /** Classes that inherit a method have different fallbacks, and locks named by class. */
    private record BeanMethod(Method method, Class<?> type) {}

    public LockPlans(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /** The templates of all methods that were looked at so far. */
    Stream<NameTemplate> templates() {
        return plans.values().stream().flatMap(Optional::stream).flatMap(plan -> plan.names().stream());
    }

    /** The class that a bean was written as, whatever proxies were made of it: the same at start and in a call. */
    public static Class<?> typeOf(Object bean) {
        return ClassUtils.getUserClass(AopProxyUtils.ultimateTargetClass(bean));
    }

    /**
     * Empty if the method has no such annotation.
     *
     * @throws LockMisuseException if what it asks for cannot be, on its client's store either
     */
    public Optional<LockPlan> of(Method called, Class<?> type) {
        BeanMethod key = new BeanMethod(NameTemplate.mostSpecific(called, type), ClassUtils.getUserClass(type));
        Optional<LockPlan> known = plans.get(key);
        if (known != null) {
            return known;
        }
        // Not inside of the map: the check asks for the client's bean, whose creation may call locked methods.
        Optional<LockPlan> read = read(key.method(), key.type()).map(this::checked);
        Optional<LockPlan> other = plans.putIfAbsent(key, read);
        return other != null ? other : read;
    }

    public static boolean isAnnotated(Method method) {
        return AnnotatedElementUtils.hasAnnotation(method, Locked.class)
                || AnnotatedElementUtils.hasAnnotation(method, ScheduledLock.class);
    }

    /** Of classes of the JDK and of Spring it is known without a look at their methods. */
    public static boolean mayHaveLockedMethods(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, Locked.class);
    }

    public Holdfast client(LockPlan plan) {
        Holdfast known = clients.get(plan.client());
        if (known == null) {
            known = plan.client().isEmpty()
                    ? beans.getBean(Holdfast.class)
                    : BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, Holdfast.class, plan.client());
            clients.put(plan.client(), known);
        }
        return known;
    }

    /** What the plan is on its client's store: without a {@code minHold} that is wanted only if possible. */
    private LockPlan checked(LockPlan plan) {
        Holdfast client;
        try {
            client = client(plan);
        } catch (NoUniqueBeanDefinitionException e) {
            throw misuse(
                    plan.method(),
                    "does not say which of several clients to use: " + e.getBeanNamesFound(),
                    "Set client = \"…\" to one of them, or make one of them @Primary");
        } catch (NoSuchBeanDefinitionException e) {
            throw misuse(
                    plan.method(),
                    plan.client().isEmpty()
                            ? "needs a lock store, but there is no bean of type Holdfast"
                            : "names the client '" + plan.client() + "', but there is no such bean of type Holdfast",
                    "Define a bean such as Holdfast.connect(\"redis://localhost:6379\"), or set holdfast.store with the Spring"
                            + " Boot starter");
        }
        try {
            plan.locks(client, plan.names().stream().map(NameTemplate::pattern).toList());
            return plan;
        } catch (UnsupportedLockException e) {
            if (plan.lingering() == LockPlan.Lingering.IF_POSSIBLE
                    && plan.minHold().isPresent()) {
                LOG.log(
                        Level.WARNING,
                        "{0} is locked without a minHold, since {1} cannot keep a released lock taken: a short job may run"
                                + " twice if clocks differ. Set minHold = \"0\" to say that this is fine",
                        plan.describe(),
                        client.store());
                return checked(plan.withoutMinHold());
            }
            throw misuse(
                    plan.method(),
                    "asks for a lock that " + client.store() + " cannot keep: " + withoutFullStop(e),
                    "Change the annotation's options, or choose another store");
        } catch (IllegalArgumentException e) {
            throw misuse(
                    plan.method(),
                    "has options that are out of range: " + withoutFullStop(e),
                    "Correct the annotation");
        }
    }

    private static String withoutFullStop(RuntimeException e) {
        return String.valueOf(e.getMessage()).replaceAll("\\.$", "");
    }

    private Optional<LockPlan> read(Method method, Class<?> type) {
        Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
        ScheduledLock scheduled = AnnotatedElementUtils.findMergedAnnotation(method, ScheduledLock.class);
        if (locked != null && scheduled != null) {
            throw misuse(method, "has both @Locked and @ScheduledLock", "Remove one of them");
        }
        if (locked == null && scheduled == null) {
            return Optional.empty();
        }
        requireInterceptable(method);
        LockPlan plan = locked != null ? plan(method, type, locked) : plan(method, type, scheduled);
        if (plan.onConflict() == OnConflict.SKIP
                && method.getReturnType().isPrimitive()
                && method.getReturnType() != void.class) {
            throw misuse(
                    method,
                    "skips conflicts but returns a " + method.getReturnType() + ", for which there is no empty value",
                    "Return an Optional or an object, or use another onConflict");
        }
        if (CompletionStage.class.isAssignableFrom(method.getReturnType())
                && !method.getReturnType().isAssignableFrom(CompletableFuture.class)) {
            throw misuse(
                    method,
                    "returns a " + method.getReturnType().getSimpleName(),
                    "Return a CompletableFuture or a CompletionStage");
        }
        requireDoneAtReturn(method);
        return Optional.of(plan);
    }

    /** Else its lock would be free while it is still at work, or before it has begun. */
    private static void requireDoneAtReturn(Method method) {
        if (KotlinDetector.isSuspendingFunction(method)) {
            throw misuse(
                    method,
                    "is a suspend function, which would go on when its lock is free again",
                    "Lock a function that returns a CompletableFuture");
        }
        Class<?> returned = method.getReturnType();
        boolean isReactive = Flow.Publisher.class.isAssignableFrom(returned)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned) != null;
        // A future of an @Async method is of a call that is over.
        boolean isFuture = Future.class.isAssignableFrom(returned)
                && !AnnotatedElementUtils.hasAnnotation(method, Async.class)
                && !AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class);
        if ((isReactive || isFuture) && !CompletionStage.class.isAssignableFrom(returned)) {
            throw misuse(
                    method,
                    "returns a " + returned.getSimpleName() + ", whose work would go on when its lock is free again",
                    "Return a CompletableFuture, as Mono.toFuture() does");
        }
    }

    private static void requireInterceptable(Method method) {
        int modifiers = method.getModifiers();
        for (var bad : List.of(Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)) {
            if ((modifiers & bad) != 0) {
                throw misuse(
                        method,
                        "is " + Modifier.toString(bad) + ", so calls of it cannot be locked",
                        "Remove '" + Modifier.toString(bad) + "'");
            }
        }
        if (Modifier.isFinal(method.getDeclaringClass().getModifiers())) {
            throw misuse(
                    method,
                    "is in a final class, of which no proxy can be made",
                    "Remove 'final' from " + method.getDeclaringClass().getSimpleName());
        }
    }

    private LockPlan plan(Method method, Class<?> type, Locked locked) {
        if (locked.name().length == 0) {
            throw misuse(method, "has a @Locked without a name", "Set name = \"…\"");
        }
        boolean fallback = locked.onConflict() == OnConflict.FALLBACK;
        if (fallback == locked.fallback().isEmpty()) {
            throw misuse(
                    method,
                    fallback ? "has no fallback" : "has a fallback that is never called",
                    "Set both onConflict = FALLBACK and fallback = \"…\", or neither");
        }
        if (locked.name().length > 1 && (locked.of() > 0 || locked.mode() == Locked.Mode.SHARED)) {
            throw misuse(method, "takes several locks shared or as permits", "Take them exclusively, or one of them");
        }
        if (locked.of() == 0 && locked.permits() != 1) {
            throw misuse(method, "takes " + locked.permits() + " permits of no total", "Set of = … too");
        }
        if (locked.of() > 0 && locked.mode() == Locked.Mode.SHARED) {
            throw misuse(method, "has both permits and mode = SHARED", "Remove one of them");
        }
        if (locked.fence() && (locked.name().length > 1 || locked.of() > 0 || locked.mode() == Locked.Mode.SHARED)) {
            throw misuse(
                    method,
                    "has a fence for what is not one exclusive lock, whose tokens a fence could not compare",
                    "Remove fence = true, or lock one name exclusively");
        }
        if (locked.fence() && !isFencePossible()) {
            throw misuse(method, "has a fence, which needs spring-jdbc and holdfast-jdbc", "Add both dependencies");
        }
        return new LockPlan(
                method,
                Arrays.stream(locked.name()).map(name -> template(method, name)).toList(),
                duration(method, "maxWait", locked.maxWait()),
                locked.onConflict(),
                fallback ? Optional.of(Fallback.of(method, type, locked.fallback())) : Optional.empty(),
                locked.onLost(),
                locked.mode(),
                locked.permits(),
                locked.of(),
                duration(method, "ttl", locked.ttl()),
                duration(method, "minHold", locked.minHold()).filter(hold -> !hold.isZero()),
                duration(method, "maxHold", locked.maxHold()),
                locked.fairness(),
                locked.fence(),
                text(locked.client()),
                LockPlan.Lingering.REQUIRED,
                LockPlan.Begins.BY_CALL);
    }

    private LockPlan plan(Method method, Class<?> type, ScheduledLock scheduled) {
        boolean auto = scheduled.minHold().equals("auto");
        String name = scheduled.name().isEmpty() ? defaultName(method, type) : scheduled.name();
        Optional<Duration> minHold = auto
                ? SchedulePeriod.of(method, this::text).map(SchedulePeriod::minHold)
                : duration(method, "minHold", scheduled.minHold());
        return new LockPlan(
                method,
                List.of(template(method, name)),
                Optional.of(Duration.ZERO),
                OnConflict.SKIP,
                Optional.empty(),
                scheduled.onLost(),
                Locked.Mode.EXCLUSIVE,
                1,
                0,
                duration(method, "ttl", scheduled.ttl()),
                minHold.filter(hold -> !hold.isZero()),
                duration(method, "maxHold", scheduled.maxHold()),
                null,
                false,
                text(scheduled.client()),
                auto ? LockPlan.Lingering.IF_POSSIBLE : LockPlan.Lingering.REQUIRED,
                LockPlan.Begins.BY_SCHEDULE);
    }

    private static String defaultName(Method method, Class<?> type) {
        // A lambda's class has another name in each process.
        boolean isLambda = type.isHidden() || ClassUtils.isLambdaClass(type);
        boolean isNumbered = type.isAnonymousClass() || type.isSynthetic();
        if (!isLambda && isNumbered && type != method.getDeclaringClass()) {
            // The number changes with the classes beside it: instances of two builds would not exclude each other.
            throw misuse(method, "is inherited by a class without a name of its own", "Set name = \"…\"");
        }
        return (isLambda ? method.getDeclaringClass() : type).getName() + "." + method.getName();
    }

    private static boolean isFencePossible() {
        ClassLoader loader = LockPlans.class.getClassLoader();
        return ClassUtils.isPresent("org.springframework.jdbc.datasource.DataSourceUtils", loader)
                && ClassUtils.isPresent("io.holdfast.jdbc.Fence", loader);
    }

    private NameTemplate template(Method method, String text) {
        try {
            return new NameTemplate(text(text), method);
        } catch (IllegalArgumentException e) {
            throw misuse(
                    method,
                    "has a lock name '" + text + "' that " + e.getMessage(),
                    "Correct the expression between #{ and }");
        }
    }

    private Optional<Duration> duration(Method method, String attribute, String value) {
        String text = text(value);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(parsed(text)
                .filter(duration -> !duration.isNegative())
                .orElseThrow(() -> misuse(
                        method,
                        "has " + attribute + " = \"" + text + "\", which is no duration",
                        "Write 250ms, 2s or 1h30m")));
    }

    private static Optional<Duration> parsed(String text) {
        try {
            return Optional.of(DurationFormatterUtils.detectAndParse(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private String text(String value) {
        String resolved = beans.resolveEmbeddedValue(value);
        return resolved == null ? "" : resolved;
    }

    public static LockMisuseException misuse(Method method, String problem, String nextStep) {
        return new LockMisuseException(NameTemplate.describe(method), problem, nextStep);
    }
}
