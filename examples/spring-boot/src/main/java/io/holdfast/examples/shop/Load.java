package io.holdfast.examples.shop;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A crowd that buys from all instances of the shop at once, first with locks and then without, and drivers that grab for rides.
 *
 * <p>Usage: {@code Load http://127.0.0.1:8081 http://127.0.0.1:8082 …}
 */
public final class Load {

    private static final int PIECES = 100;
    private static final int ORDERS = 300;
    private static final int BUYERS_AT_ONCE = 24;
    private static final int RIDES = 10;
    private static final int DRIVERS = 30;

    private final List<String> instances;
    private final HttpClient client = HttpClient.newHttpClient();

    Load(List<String> instances) {
        this.instances = instances;
    }

    /** How many pieces were sold, of those there were, and how many nobody had. */
    record Sales(int sold, int oversold) {}

    public static void main(String[] instances) throws Exception {
        Load load = new Load(List.of(instances));
        System.out.println(load.instances.size() + " instances, " + PIECES + " pieces, " + ORDERS + " orders");
        Sales locked = load.sellOut(true);
        Sales unlocked = load.sellOut(false);
        System.out.println("with @Locked:    " + locked.sold() + " sold, " + locked.oversold() + " oversold");
        System.out.println("without a lock:  " + unlocked.sold() + " sold, " + unlocked.oversold() + " oversold");
        System.out.println(
                load.grabRides() + " of " + RIDES + " rides have one driver, " + DRIVERS + " grabbed for each");
        if (locked.oversold() != 0) {
            System.exit(1);
        }
    }

    Sales sellOut(boolean locked) throws Exception {
        String sku = (locked ? "locked-" : "unlocked-") + System.nanoTime();
        send("PUT", 0, "/stock/" + sku + "?pieces=" + PIECES);
        List<Callable<String>> orders = new ArrayList<>();
        for (int i = 0; i < ORDERS; i++) {
            int instance = i;
            orders.add(() -> order(instance, "/stock/" + sku + "/orders?locked=" + locked));
        }
        int sold = (int) all(orders).stream().filter("SOLD"::equals).count();
        return new Sales(sold, Math.max(0, -Integer.parseInt(send("GET", 0, "/stock/" + sku))));
    }

    /** Who is told to try again does. */
    private String order(int instance, String path) throws IOException, InterruptedException {
        String answer;
        do {
            answer = send("POST", instance, path);
        } while (answer.equals("TRY_AGAIN"));
        return answer;
    }

    /** How many rides all drivers agree on. */
    int grabRides() throws Exception {
        String prefix = "ride-" + System.nanoTime() + "-";
        int agreed = 0;
        for (int ride = 0; ride < RIDES; ride++) {
            String id = prefix + ride;
            List<Callable<String>> grabs = new ArrayList<>();
            for (int i = 0; i < DRIVERS; i++) {
                int driver = i;
                grabs.add(() -> send("POST", driver, "/rides/" + id + "?driver=driver-" + driver));
            }
            List<String> drivers = all(grabs).stream()
                    .filter(name -> !name.isEmpty())
                    .distinct()
                    .toList();
            agreed += drivers.size() == 1 ? 1 : 0;
        }
        return agreed;
    }

    private List<String> all(List<Callable<String>> requests) throws InterruptedException, ExecutionException {
        ExecutorService crowd = Executors.newFixedThreadPool(BUYERS_AT_ONCE);
        try {
            List<String> answers = new ArrayList<>();
            for (Future<String> answer : crowd.invokeAll(requests)) {
                answers.add(answer.get());
            }
            return answers;
        } finally {
            crowd.shutdown();
        }
    }

    private String send(String method, int number, String path) throws IOException, InterruptedException {
        URI address = URI.create(instances.get(number % instances.size()) + path);
        var answer = client.send(
                HttpRequest.newBuilder(address)
                        .method(method, BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException(method + " " + address + " answered " + answer.statusCode() + " " + answer.body());
        }
        return answer.body();
    }
}
