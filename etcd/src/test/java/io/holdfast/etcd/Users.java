package io.holdfast.etcd;

/** Makes an etcd ask for logins. */
final class Users {

    /** A user who may do what docs/stores/etcd.md says it needs, and nothing else, as in a URI. */
    static final String LOGIN = "app:p%25ss";

    /** Who may do anything, as {@code etcdctl} takes it. */
    static final String ADMIN = "root:secret";

    private Users() {}

    static void create(Etcdctl admin) {
        admin.run("user", "add", ADMIN);
        admin.run("role", "add", "locks");
        admin.run("role", "grant-permission", "locks", "readwrite", "--prefix", "holdfast/");
        admin.run("user", "add", "app:p%ss");
        admin.run("user", "grant-role", "app", "locks");
        admin.run("user", "grant-role", "root", "root");
        admin.run("auth", "enable");
    }
}
