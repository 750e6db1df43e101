package io.holdfast.spring.plan;

import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** The name of a lock with expressions in it. Thread-safe. */
public final class NameTemplate {

    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static final ParameterNameDiscoverer PARAMETERS = new DefaultParameterNameDiscoverer();

    private static final TypeDescriptor TEXT = TypeDescriptor.valueOf(String.class);

    private final String text;
    private final Method method;
    private final List<Expression> parts;

    /** @throws IllegalArgumentException saying what is wrong with it */
    public NameTemplate(String text, Method method) {
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

    private static List<String> variables(SpelNode expression) {
        return nodes(expression).stream()
                .filter(VariableReference.class::isInstance)
                .map(SpelNode::toStringAST)
                .toList();
    }

    private static List<SpelNode> nodes(SpelNode root) {
        List<SpelNode> all = new ArrayList<>(List.of(root));
        for (int i = 0; i < root.getChildCount(); i++) {
            all.addAll(nodes(root.getChild(i)));
        }
        return all;
    }

    /** The names of the beans it asks. */
    public List<String> beansUsed() {
        return parts.stream()
                .filter(SpelExpression.class::isInstance)
                .flatMap(part -> nodes(((SpelExpression) part).getAST()).stream())
                .filter(BeanReference.class::isInstance)
                .map(bean -> bean.toStringAST().replaceAll("[@&']", ""))
                .toList();
    }

    /** The parameters whose values it asks for. */
    public Set<Parameter> parametersUsed() {
        Set<Parameter> used = new LinkedHashSet<>();
        String @Nullable [] names = PARAMETERS.getParameterNames(method);
        for (Expression part : parts) {
            List<String> variables = part instanceof SpelExpression spel ? variables(spel.getAST()) : List.of();
            for (int i = 0; i < method.getParameterCount(); i++) {
                if (variables.contains("#a" + i)
                        || variables.contains("#p" + i)
                        || names != null && variables.contains("#" + names[i])) {
                    used.add(method.getParameters()[i]);
                }
            }
        }
        return used;
    }

    /** @throws IllegalArgumentException if something in it is null, or the name is empty */
    public String name(@Nullable Object target, @Nullable Object[] arguments, BeanFactory beans) {
        if (parts.size() == 1 && parts.get(0) instanceof LiteralExpression) {
            return text;
        }
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(target, method, arguments, PARAMETERS);
        context.setBeanResolver(new BeanFactoryResolver(beans));
        try {
            return parts.stream().map(part -> value(part, context)).collect(Collectors.joining());
        } catch (EvaluationException e) {
            throw new IllegalArgumentException(
                    "The name '" + text + "' of the lock on " + describe(method) + " cannot be made: " + e.getMessage()
                            + ". Nothing was locked and the method did not run.",
                    e);
        }
    }

    private String value(Expression part, EvaluationContext context) {
        if (part instanceof LiteralExpression) {
            return part.getExpressionString();
        }
        if (part instanceof SpelExpression spel) {
            refuseNullSummands(spel.getAST(), new ExpressionState(context), part);
        }
        Object value = part.getValue(context);
        Object converted = value == null ? null : converted(value, part, context);
        if (converted == null || converted.equals("")) {
            throw nothingIn(part.getExpressionString(), converted == null ? "null" : "empty");
        }
        return (String) converted;
    }

    /** Spring makes no text of objects whose text may be another one each time. */
    private @Nullable Object converted(Object value, Expression part, EvaluationContext context) {
        try {
            return context.getTypeConverter().convertValue(value, TypeDescriptor.forObject(value), TEXT);
        } catch (SpelEvaluationException e) {
            throw new IllegalArgumentException(
                    "The name '" + text + "' of the lock on " + describe(method) + " needs a text, but "
                            + part.getExpressionString() + " is a "
                            + value.getClass().getName()
                            + ", of which none can be made. Name one of its properties. Nothing was locked and the method did"
                            + " not run.",
                    e);
        }
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

    /** With what its expressions end in: {@code stock/{sku}} for <code>stock/#{#order.sku}</code>. */
    String pattern() {
        return parts.stream()
                .map(part -> part instanceof SpelExpression spel
                        ? "{" + subject(spel.getAST()) + "}"
                        : part.getExpressionString())
                .collect(Collectors.joining());
    }

    /** The last property or parameter in an expression, or else the last method that is called. */
    private static String subject(SpelNode expression) {
        String subject = "";
        String called = "";
        for (SpelNode node : nodes(expression)) {
            if (node instanceof VariableReference) {
                subject = node.toStringAST().substring(1);
            } else if (node instanceof PropertyOrFieldReference property) {
                subject = property.getName();
            } else if (node instanceof MethodReference method) {
                called = method.getName();
            }
        }
        return subject.isEmpty() ? called : subject;
    }

    /** How much of it is the same in all names; 0 if that is nothing to tell them by. */
    int literalLength() {
        String literal = parts.stream()
                .filter(LiteralExpression.class::isInstance)
                .map(Expression::getExpressionString)
                .collect(Collectors.joining());
        return literal.chars().anyMatch(Character::isLetterOrDigit) ? literal.length() : 0;
    }

    /** Whether such a name may have come of it. */
    boolean matches(String name) {
        int at = 0;
        boolean afterExpression = false;
        for (Iterator<Expression> rest = parts.iterator(); rest.hasNext(); ) {
            if (!(rest.next() instanceof LiteralExpression literal)) {
                afterExpression = true;
                continue;
            }
            String expected = literal.getExpressionString();
            int from = afterExpression ? at + 1 : at;
            int found = !afterExpression
                    ? (name.startsWith(expected, at) ? at : -1)
                    : rest.hasNext() ? name.indexOf(expected, from) : name.length() - expected.length();
            if (found < from || !name.startsWith(expected, found)) {
                return false;
            }
            at = found + expected.length();
            afterExpression = false;
        }
        return afterExpression ? at < name.length() : at == name.length();
    }

    /** The method a bean really has, for its annotations and the names of its parameters. */
    public static Method mostSpecific(Method method, Class<?> type) {
        return AopUtils.getMostSpecificMethod(method, type);
    }
}
