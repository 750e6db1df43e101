package io.holdfast.examples.shop;

import io.holdfast.spring.CurrentLease;
import io.holdfast.spring.ScheduledLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** A job that is scheduled on every instance and runs on one of them. */
@Component
class StockReport {

    private static final Logger LOG = LoggerFactory.getLogger(StockReport.class);

    private final Stock stock;

    StockReport(Stock stock) {
        this.stock = stock;
    }

    @Scheduled(fixedRateString = "${shop.report-every:10s}")
    @ScheduledLock
    public void report() {
        LOG.info("{} kinds of things on stock; reported under token {}", stock.skus(), CurrentLease.token());
    }
}
