package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import java.util.Map;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/** Registers a bean for each client below {@code holdfast.clients}. */
final class FurtherClients implements ImportBeanDefinitionRegistrar {

    private final Environment environment;
    private final BeanFactory beans;

    FurtherClients(Environment environment, BeanFactory beans) {
        this.environment = environment;
        this.beans = beans;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        Map<String, ClientProperties> clients = Binder.get(environment)
                .bind("holdfast.clients", Bindable.mapOf(String.class, ClientProperties.class))
                .orElse(Map.of());
        clients.forEach((name, properties) -> {
            RootBeanDefinition definition = new RootBeanDefinition(
                    Holdfast.class, () -> beans.getBean(HoldfastClients.class).connect(name, properties));
            definition.setDestroyMethodName("close");
            registry.registerBeanDefinition(name, definition);
        });
    }
}
