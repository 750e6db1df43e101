package io.holdfast.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/** What holds for this machine alone: its boot, and which file systems keep locks between its processes only. */
final class Machine {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());

    /** Other machines write there too, whose clock and processes this one knows nothing of. */
    private static final Set<String> NETWORK = Set.of(
            "nfs",
            "nfs3",
            "nfs4",
            "cifs",
            "smb",
            "smb2",
            "smb3",
            "smbfs",
            "9p",
            "afs",
            "ceph",
            "fuse.ceph",
            "gfs2",
            "glusterfs",
            "fuse.glusterfs",
            "lustre",
            "ocfs2",
            "beegfs",
            "fuse.sshfs",
            "fuse.s3fs",
            "fuse.rclone",
            "davfs",
            "webdav",
            "vboxsf",
            "fuse.vmhgfs-fuse");

    private Machine() {}

    /** Changes with every boot; on systems that do not tell, always the same. */
    static String boot() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }

    static void requireLocal(Path directory) throws IOException {
        requireLocal(directory, typeOf(directory));
    }

    static void requireLocal(Path directory, String type) throws IOException {
        String known = type.toLowerCase(Locale.ROOT);
        if (NETWORK.contains(known)) {
            throw new IOException(directory + " is on a network file system (" + type
                    + "), where other machines cannot be kept out: use a local directory, or a store with a server");
        }
        if (known.startsWith("fuse") || known.equals("virtiofs")) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "{0} is on a file system ({1}) that may not keep locks between processes, or may be shared with"
                            + " other machines: file: locks need a local one",
                    directory,
                    type);
        }
    }

    private static String typeOf(Path directory) {
        try {
            return Files.getFileStore(directory).type();
        } catch (IOException e) {
            // In a changed root the mount may not be listed. That says nothing against it.
            LOG.log(System.Logger.Level.DEBUG, "cannot tell the file system of " + directory, e);
            return "unknown";
        }
    }
}
