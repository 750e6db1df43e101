package io.holdfast.examples.shop;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The shop over HTTP. */
@RestController
class ShopController {

    private final Stock stock;
    private final Rides rides;

    ShopController(Stock stock, Rides rides) {
        this.stock = stock;
        this.rides = rides;
    }

    @PutMapping("/stock/{sku}")
    void fill(@PathVariable String sku, @RequestParam int pieces) {
        stock.fill(sku, pieces);
    }

    @GetMapping("/stock/{sku}")
    int pieces(@PathVariable String sku) {
        return stock.pieces(sku);
    }

    @PostMapping("/stock/{sku}/orders")
    String order(@PathVariable String sku, @RequestParam(defaultValue = "true") boolean locked) {
        return (locked ? stock.sell(sku) : stock.sellUnlocked(sku)).name();
    }

    /** Who drives, or nobody yet. */
    @PostMapping("/rides/{id}")
    String grab(@PathVariable String id, @RequestParam String driver) {
        return rides.grab(id, driver).orElse("");
    }
}
