package io.holdfast.servers;

import io.holdfast.servers.process.Patience;
import io.holdfast.servers.process.ServerStartException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Several {@code etcd} servers on loopback that form one cluster.
 *
 * <p>A member that is {@linkplain Server#restartEmpty restarted empty} is first removed from the cluster and added again, as
 * an operator does after the loss of a disk; that needs a majority of the others and takes some seconds. Thread-safe.
 */
public final class EtcdCluster extends QuorumGroup<EtcdServer> {

    private static final int MEMBERS = 3;

    private EtcdCluster(List<EtcdServer> nodes) {
        super("The etcd cluster", nodes, EtcdServer::isLeader);
        String members =
                nodes.stream().map(node -> node.name() + "=" + node.peerUrl()).collect(Collectors.joining(","));
        nodes.forEach(node -> node.join(members, this));
    }

    /** Starts a cluster of three with default options. */
    public static EtcdCluster start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Where clients connect, in the order of {@link #nodes}. */
    public List<String> endpoints() {
        return nodes().stream().map(EtcdServer::endpoint).toList();
    }

    /** Makes the cluster forget a member and expect a new one in its place. */
    void replace(EtcdServer lost) {
        String id = Patience.await("etcd does not list its members", () -> memberId(lost));
        demand(lost, "/v3/cluster/member/remove", "{\"ID\":\"" + id + "\"}");
        demand(lost, "/v3/cluster/member/add", "{\"peerURLs\":[\"" + lost.peerUrl() + "\"]}");
    }

    private Optional<String> memberId(EtcdServer member) {
        Pattern id = Pattern.compile("\"ID\":\"(\\d+)\",\"name\":\"" + Pattern.quote(member.name()) + "\"");
        return answer(member, "/v3/cluster/member/list", "{}")
                .map(id::matcher)
                .filter(Matcher::find)
                .map(matcher -> matcher.group(1));
    }

    /** Members that have not been in touch for some seconds refuse changes, so this asks until one agrees. */
    private void demand(EtcdServer except, String path, String json) {
        Patience.await("etcd does not agree to " + path + " " + json, () -> answer(except, path, json));
    }

    private Optional<String> answer(EtcdServer except, String path, String json) {
        for (EtcdServer node : nodes()) {
            if (node != except && node.isActive()) {
                try {
                    String answer = node.post(path, json);
                    if (answer.contains(" 200 OK")) {
                        return Optional.of(answer);
                    }
                } catch (IOException unreachable) {
                    // The next one may answer.
                }
            }
        }
        return Optional.empty();
    }

    /** Options of an {@link EtcdCluster}. */
    public static final class Builder {

        private UnaryOperator<EtcdServer.Builder> options = UnaryOperator.identity();

        private Builder() {}

        /** Sets options of every member, for example {@code each(node -> node.tls(material))}. */
        public Builder each(UnaryOperator<EtcdServer.Builder> nodeOptions) {
            options = nodeOptions;
            return this;
        }

        /**
         * Starts the cluster and returns once every member serves.
         *
         * @throws ServerStartException if etcd is not installed, or a member does not start
         */
        public EtcdCluster start() {
            return ServerBuilder.startOnFreePorts(this::create, EtcdCluster::bringUp, EtcdCluster::close);
        }

        private EtcdCluster create() {
            List<EtcdServer> nodes = new ArrayList<>();
            for (int number = 1; number <= MEMBERS; number++) {
                nodes.add(new EtcdServer("etcd-" + number, options.apply(EtcdServer.builder())));
            }
            return new EtcdCluster(nodes);
        }
    }
}
