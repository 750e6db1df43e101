package io.holdfast.examples.sql;

/** Sells pieces of something, never more than there are. Compare the three ways: the method that differs is this one. */
interface Shop {

    /** Whether a piece was left to sell. */
    boolean sell(String sku) throws Exception;
}
