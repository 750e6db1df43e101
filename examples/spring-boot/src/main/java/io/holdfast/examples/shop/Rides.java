package io.holdfast.examples.shop;

import io.holdfast.spring.Locked;
import io.holdfast.spring.OnConflict;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;

/** Deliveries that many drivers grab for; the first one gets it, and nobody waits. */
@Service
public class Rides {

    private final JdbcTemplate database;

    Rides(JdbcTemplate database) {
        this.database = database;
    }

    /** Who drives; empty if somebody else is grabbing right now. */
    @Locked(name = "ride/#{#id}", maxWait = "0", onConflict = OnConflict.SKIP)
    public Optional<String> grab(String id, String driver) {
        List<String> known = database.queryForList("SELECT driver FROM ride WHERE id = ?", String.class, id);
        if (known.isEmpty()) {
            database.update("INSERT INTO ride VALUES (?, ?)", id, driver);
            return Optional.of(driver);
        }
        return Optional.of(known.get(0));
    }
}
