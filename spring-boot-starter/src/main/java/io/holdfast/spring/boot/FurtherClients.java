package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import java.util.Map;
import java.util.Set;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/** Registers a bean for each client below {@code holdfast.clients}: by a factory method, which can also be called from code made ahead of time. */
final class FurtherClients implements ImportBeanDefinitionRegistrar {

    private final Environment environment;

    FurtherClients(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        for (String name : names(environment)) {
            RootBeanDefinition definition = new RootBeanDefinition();
            definition.setTargetType(Holdfast.class);
            definition.setFactoryBeanName("holdfastClients");
            definition.setFactoryMethodName("connectNamed");
            definition.getConstructorArgumentValues().addIndexedArgumentValue(0, name);
            definition.setDestroyMethodName("close");
            registry.registerBeanDefinition(name, definition);
        }
    }

    static Set<String> names(Environment environment) {
        return Binder.get(environment)
                .bind("holdfast.clients", Bindable.mapOf(String.class, ClientProperties.class))
                .orElse(Map.of())
                .keySet();
    }
}
