package io.holdfast.file;

import io.holdfast.spi.LockNames;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Names: checking one, and encoding one for the file store. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class NameBenchmark {

    @Param({"stock/sku-42", "заказ/42"})
    public String name;

    @Benchmark
    public String check() {
        return LockNames.require(name);
    }

    @Benchmark
    public String encode() {
        return FileNames.of(name);
    }
}
