package io.holdfast.zookeeper.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;

class NodeNamesTest {

    private static final List<String> NAMES = List.of(
            "Job",
            "job",
            "job ",
            " job",
            "a",
            "a/b",
            "a%2Fb",
            "a%2fb",
            "{a}",
            "x}y",
            ".",
            "..",
            "...",
            "%2E",
            "%2E%2E",
            "/",
            "//",
            "%",
            "%%",
            "zookeeper",
            "%7Aookeeper",
            "Zookeeper",
            "é",
            "e\u0301",
            "😀",
            "\u0001",
            "\n",
            "\u007f",
            "\u0085",
            "\ue000",
            "\uf8ff",
            "\ufff0",
            "\uffff",
            "名前",
            "%F0%9F%98%80",
            "x".repeat(512),
            "/".repeat(512));

    @Test
    void plainNamesAreTheirOwnDirectory() {
        for (String plain : List.of("orders", "stock-42", "nightly_job", "a.b.c", "with space", "é")) {
            assertThat(NodeNames.directory(plain)).isEqualTo(plain);
        }
    }

    @Test
    void differentNamesHaveDifferentDirectoriesThatZooKeeperAccepts() {
        Map<String, String> seen = new HashMap<>();
        for (String name : NAMES) {
            String directory = NodeNames.directory(name);
            PathUtils.validatePath("/locks/" + directory);
            assertThat(directory).doesNotContain("/").isNotEqualTo(NodeNames.NO_LOCK);
            assertThat(seen.put(directory, name))
                    .as("same directory as %s", name)
                    .isNull();
            assertThat(NodeNames.lock(directory)).contains(name);
        }
    }

    @Test
    void anyNameIsFoundAgainFromItsDirectory() {
        Random random = new Random(42);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder name = new StringBuilder();
            int length = 1 + random.nextInt(6);
            while (name.length() < length) {
                int c = random.nextInt(random.nextBoolean() ? 0x80 : 0x110000);
                if (c != 0 && !(c >= 0xd800 && c <= 0xdfff)) {
                    name.appendCodePoint(c);
                }
            }
            String directory = NodeNames.directory(name.toString());
            PathUtils.validatePath("/" + directory);
            assertThat(NodeNames.lock(directory)).contains(name.toString());
        }
    }

    @Test
    void whatIsNoDirectoryOfOursIsNoLock() {
        for (String foreign : List.of("%", "%2", "%zz", "%2f", "%41", "zookeeper", "%FF", "a%")) {
            assertThat(NodeNames.lock(foreign)).as(foreign).isEmpty();
        }
    }

    @Test
    void nodesAreNamedAsCuratorNamesThem() {
        assertThat(NodeNames.node("u-1", Demand.exclusive(), Layout.MUTEX)).isEqualTo("_c_u-1-lock-");
        assertThat(NodeNames.node("u-1", Demand.shared(), Layout.MUTEX)).isEqualTo("_c_u-1-read-lock-");
        assertThat(NodeNames.node("u-1", Demand.permits(2, 5), Layout.MUTEX)).isEqualTo("_c_u-1-2of5-lock-");
        assertThat(NodeNames.node("u-1", Demand.exclusive(), Layout.READ_WRITE)).isEqualTo("_c_u-1-__WRIT__");
        assertThat(NodeNames.node("u-1", Demand.shared(), Layout.READ_WRITE)).isEqualTo("_c_u-1-__READ__");
    }
}
