package io.holdfast.redis;

import io.holdfast.redis.server.Node;
import io.holdfast.redis.server.Replies;
import io.holdfast.redis.server.ServerCommands;
import io.holdfast.redis.server.Topology;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

/** Warns of servers that evict keys: they take locks from their holders without telling anybody. Thread-safe. */
final class EvictionWarning {

    private static final System.Logger LOG = System.getLogger(EvictionWarning.class.getName());
    private static final String POLICY = "maxmemory_policy:";

    private final StoreContext context;
    private final Topology topology;
    private final ServerCommands commands;
    private final Duration timeout;
    private final AtomicBoolean looked = new AtomicBoolean();

    EvictionWarning(StoreContext context, Topology topology, ServerCommands commands, Duration timeout) {
        this.context = context;
        this.topology = topology;
        this.commands = commands;
        this.timeout = timeout;
    }

    /** Looks at the servers' settings in the background, the first time it is called. */
    void lookOnce() {
        if (!looked.get() && looked.compareAndSet(false, true)) {
            context.background().execute(this::look);
        }
    }

    private void look() {
        Deadline deadline = Deadline.after(context.time(), timeout);
        try {
            topology.primaries(deadline).forEach(server -> look(server, deadline));
        } catch (JedisException e) {
            LOG.log(System.Logger.Level.DEBUG, "cannot read maxmemory-policy", e);
        }
    }

    private void look(Node server, Deadline deadline) {
        String info = Replies.text(commands.send(server, deadline, Command.INFO, "memory"));
        String policy = info.lines()
                .filter(line -> line.startsWith(POLICY))
                .map(line -> line.substring(POLICY.length()).trim().toLowerCase(Locale.ROOT))
                .findFirst()
                .orElse("noeviction");
        if (!policy.equals("noeviction")) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Redis at {0} has maxmemory-policy {1}: when it runs full it drops locks that are held. Set it to"
                            + " noeviction, or give locks a server of their own.",
                    server.id(),
                    policy);
        }
    }
}
