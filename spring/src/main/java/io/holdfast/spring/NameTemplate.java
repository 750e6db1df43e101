package io.holdfast.spring;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** The name of a lock with expressions in it. Thread-safe. */
final class NameTemplate {

    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static final ParameterNameDiscoverer PARAMETERS = new DefaultParameterNameDiscoverer();

    private final String text;
    private final Method method;
    private final List<Expression> parts;

    /** @throws IllegalArgumentException saying what is wrong with it */
    NameTemplate(String text, Method method) {
        this.text = text;
        this.method = method;
        try {
            Expression whole = PARSER.parseExpression(text, new TemplateParserContext());
            this.parts = whole instanceof CompositeStringExpression several
                    ? Arrays.asList(several.getExpressions())
                    : List.of(whole);
        } catch (ParseException e) {
            throw new IllegalArgumentException("does not parse: " + e.getSimpleMessage(), e);
        }
        if (text.isBlank()) {
            throw new IllegalArgumentException("is empty");
        }
        requireKnownVariables();
    }

    private void requireKnownVariables() {
        Set<String> known = new HashSet<>(Set.of("#root", "#this"));
        for (int i = 0; i < method.getParameterCount(); i++) {
            known.addAll(List.of("#a" + i, "#p" + i));
        }
        String @Nullable [] names = PARAMETERS.getParameterNames(method);
        if (names != null) {
            Arrays.stream(names).forEach(name -> known.add("#" + name));
        }
        for (Expression part : parts) {
            if (part instanceof SpelExpression spel) {
                for (String variable : variables(spel.getAST())) {
                    if (!known.contains(variable)) {
                        throw new IllegalArgumentException("names " + variable
                                + ", but the method has no such parameter"
                                + (names == null ? " (compile with -parameters, or write #p0 for the first)" : ""));
                    }
                }
            }
        }
    }

    private static List<String> variables(SpelNode node) {
        List<String> found = new ArrayList<>();
        if (node instanceof VariableReference) {
            found.add(node.toStringAST());
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            found.addAll(variables(node.getChild(i)));
        }
        return found;
    }

    /** @throws IllegalArgumentException if something in it is null, or the name is empty */
    String name(@Nullable Object target, @Nullable Object[] arguments, BeanFactory beans) {
        if (parts.size() == 1 && parts.get(0) instanceof LiteralExpression) {
            return text;
        }
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(target, method, arguments, PARAMETERS);
        context.setBeanResolver(new BeanFactoryResolver(beans));
        StringBuilder name = new StringBuilder();
        for (Expression part : parts) {
            name.append(value(part, context));
        }
        return name.toString();
    }

    private String value(Expression part, EvaluationContext context) {
        if (part instanceof SpelExpression spel) {
            refuseNullSummands(spel.getAST(), new ExpressionState(context), part);
        }
        String value = part.getValue(context, String.class);
        if (value == null || value.isEmpty() && !(part instanceof LiteralExpression)) {
            throw nothingIn(part.getExpressionString(), value == null ? "null" : "empty");
        }
        return value;
    }

    /** SpEL makes the text "null" of a null that is added to a text. */
    private void refuseNullSummands(SpelNode node, ExpressionState state, Expression part) {
        if (node instanceof OpPlus) {
            for (int i = 0; i < node.getChildCount(); i++) {
                SpelNode summand = node.getChild(i);
                if (summand instanceof OpPlus) {
                    refuseNullSummands(summand, state, part);
                } else if (summand.getValue(state) == null) {
                    throw nothingIn(summand.toStringAST(), "null");
                }
            }
        }
    }

    private IllegalArgumentException nothingIn(String expression, String what) {
        return new IllegalArgumentException(
                "The name '" + text + "' of the lock on " + describe(method) + " needs a value, but " + expression
                        + " is " + what + ". Nothing was locked and the method did not run.");
    }

    static String describe(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    /** As a tag of meters: {@code stock/{order.sku}}. */
    String pattern() {
        return text.replaceAll("#\\{\\s*#?([^}]*)}", "{$1}");
    }

    /** The method a bean really has, for its annotations and the names of its parameters. */
    static Method mostSpecific(Method method, Class<?> type) {
        return AopUtils.getMostSpecificMethod(method, type);
    }
}
