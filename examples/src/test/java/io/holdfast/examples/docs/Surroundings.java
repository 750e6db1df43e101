package io.holdfast.examples.docs;

import io.grpc.Channel;
import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import java.sql.Connection;
import javax.sql.DataSource;

/** What the blocks of Java in the pages take for granted. Compiled against, never run. */
public class Surroundings {

    static final String IMPORTS = """
            import static io.holdfast.Fairness.*;
            import static io.holdfast.spring.Locked.Mode.*;
            import static io.holdfast.spring.OnConflict.*;
            import static io.holdfast.spring.OnLost.*;
            import static java.time.Duration.*;
            import static org.assertj.core.api.Assertions.assertThat;
            import io.holdfast.*;
            import io.holdfast.etcd.EtcdStores;
            import io.holdfast.jdbc.*;
            import io.holdfast.redis.RedisStores;
            import io.holdfast.servers.*;
            import io.holdfast.spi.*;
            import io.holdfast.spring.*;
            import io.holdfast.spring.boot.test.*;
            import io.holdfast.tck.*;
            import io.holdfast.testing.*;
            import io.holdfast.zookeeper.ZooKeeperStores;
            import java.time.Duration;
            import java.util.*;
            import java.util.concurrent.*;
            import java.util.concurrent.atomic.*;
            import org.junit.jupiter.api.AfterAll;
            import org.junit.jupiter.api.BeforeAll;
            import org.junit.jupiter.api.Test;
            import com.tngtech.archunit.core.importer.ClassFileImporter;
            import org.springframework.beans.factory.annotation.Autowired;
            import org.springframework.boot.test.context.SpringBootTest;
            import org.springframework.scheduling.annotation.Scheduled;
            """;

    protected Holdfast holdfast;
    protected DistributedLock lock;
    protected Lease lease;
    protected LockOptions options;
    protected DataSource dataSource;
    protected Connection connection;
    protected Channel yourGrpcChannel;
    protected String id;
    protected String body;

    public static final Shop shop = null;
    public static final Order order = null;
    public static final Receipt SOLD_OUT = null;

    protected void assignNextPartition(long token) {}

    /** Of a shop. */
    public record Order(String sku) {}

    /** Of an order. */
    public record Receipt(long number) {}

    /** Where orders go. */
    public interface Shop {
        Receipt deduct(Order order);
    }
}
