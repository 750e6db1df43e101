package io.holdfast.spring.boot;

import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/** The path of the request that calls an endpoint, as Spring MVC has it; other web frameworks do not tell it. */
final class RequestedPath {

    /** HandlerMapping.PATH_WITHIN_HANDLER_MAPPING_ATTRIBUTE: what an endpoint's parameters are made of. */
    private static final String ATTRIBUTE = "org.springframework.web.servlet.HandlerMapping.pathWithinHandlerMapping";

    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.web.context.request.RequestContextHolder", RequestedPath.class.getClassLoader());

    private RequestedPath() {}

    /** Whether there are parts that the endpoint's parameters lack. */
    static boolean hasEmptyParts() {
        if (!PRESENT) {
            return false;
        }
        RequestAttributes request = RequestContextHolder.getRequestAttributes();
        return request != null
                && request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST) instanceof String path
                && (path.contains("//") || path.endsWith("/"));
    }
}
