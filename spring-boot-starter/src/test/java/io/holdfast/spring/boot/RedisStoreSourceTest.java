package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;

@DisplayName("the address of the application's Redis")
class RedisStoreSourceTest {

    @Test
    void ofOneServerHasItsCredentialsAndDatabase() {
        DataRedisConnectionDetails details = new DataRedisConnectionDetails() {
            @Override
            public String getUsername() {
                return "app";
            }

            @Override
            public String getPassword() {
                return "p@ss/w:rd +";
            }

            @Override
            public Standalone getStandalone() {
                return Standalone.of("db-1", 6380, 3);
            }
        };

        assertThat(RedisStoreSource.uri(details)).isEqualTo("redis://app:p%40ss%2Fw%3Ard%20%2B@db-1:6380/3");
    }

    @Test
    void ofSeveralNamesAllOfThem() {
        DataRedisConnectionDetails cluster = new DataRedisConnectionDetails() {
            @Override
            public Cluster getCluster() {
                return () -> List.of(new Node("a", 1), new Node("b", 2));
            }
        };
        DataRedisConnectionDetails sentinel = new DataRedisConnectionDetails() {
            @Override
            public Sentinel getSentinel() {
                return new Sentinel() {
                    @Override
                    public int getDatabase() {
                        return 0;
                    }

                    @Override
                    public String getMaster() {
                        return "mymaster";
                    }

                    @Override
                    public List<Node> getNodes() {
                        return List.of(new Node("a", 1), new Node("b", 2));
                    }

                    @Override
                    public @Nullable String getUsername() {
                        return null;
                    }

                    @Override
                    public @Nullable String getPassword() {
                        return null;
                    }
                };
            }
        };

        assertThat(RedisStoreSource.uri(cluster)).isEqualTo("redis-cluster://a:1,b:2");
        assertThat(RedisStoreSource.uri(sentinel)).isEqualTo("redis-sentinel://a:1,b:2/mymaster");
    }

    @Test
    void withTlsOfTheSystemsTrustIsReachedByTls() {
        assertThat(RedisStoreSource.uri(tls(SslBundle.systemDefault()))).isEqualTo("redis://db-1:6379?tls=true");
        assertThatThrownBy(() -> RedisStoreSource.uri(tls(SslBundle.of(SslStoreBundle.of(null, null, null)))))
                .isInstanceOf(NoLockStoreException.class)
                .hasMessageContaining("SSL bundle with stores of its own");
    }

    private static DataRedisConnectionDetails tls(SslBundle bundle) {
        return new DataRedisConnectionDetails() {
            @Override
            public SslBundle getSslBundle() {
                return bundle;
            }

            @Override
            public Standalone getStandalone() {
                return Standalone.of("db-1", 6379);
            }
        };
    }

    @Test
    void thatCannotBeToldIsAnError() {
        assertThatThrownBy(() -> RedisStoreSource.uri(new DataRedisConnectionDetails() {}))
                .isInstanceOf(NoLockStoreException.class)
                .hasMessageContaining("neither one server, nor Sentinel, nor a cluster");
    }
}
