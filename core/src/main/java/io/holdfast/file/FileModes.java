package io.holdfast.file;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Who may use the files of a lock directory: whoever may write the directory. A directory made here is for its user
 * alone.
 *
 * @param permissions none where the file system has no such thing
 */
record FileModes(Optional<Set<PosixFilePermission>> permissions) {

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

    static void createDirectory(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            return;
        }
        Path parent = directory.toAbsolutePath().getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        if (posix(directory)) {
            Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        } else {
            Files.createDirectories(directory);
        }
    }

    static FileModes of(Path directory) throws IOException {
        if (!posix(directory)) {
            return new FileModes(Optional.empty());
        }
        Set<PosixFilePermission> allowed = Files.getPosixFilePermissions(directory);
        Set<PosixFilePermission> modes = EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
        if (allowed.contains(PosixFilePermission.GROUP_WRITE)) {
            modes.add(PosixFilePermission.GROUP_READ);
            modes.add(PosixFilePermission.GROUP_WRITE);
        }
        if (allowed.contains(PosixFilePermission.OTHERS_WRITE)) {
            modes.add(PosixFilePermission.OTHERS_READ);
            modes.add(PosixFilePermission.OTHERS_WRITE);
        }
        return new FileModes(Optional.of(modes));
    }

    /** To make a file with. The umask may take some away. */
    FileAttribute<?>[] attributes() {
        return permissions.stream().map(PosixFilePermissions::asFileAttribute).toArray(FileAttribute<?>[]::new);
    }

    /**
     * Gives back what the umask has taken away. Opens and closes the file, which drops every lock this process has on it:
     * to be called before there are any.
     */
    void apply(Path file) throws IOException {
        if (permissions.isEmpty()) {
            return;
        }
        // Not through Files: its view follows links on JDK 25, whether it shall or not.
        try (DirectoryStream<Path> directory =
                Files.newDirectoryStream(file.toAbsolutePath().getParent())) {
            if (!(directory instanceof SecureDirectoryStream<Path> secure)) {
                throw new IOException("permissions of " + file + " cannot be set safely on this system");
            }
            secure.getFileAttributeView(file.getFileName(), PosixFileAttributeView.class, NOFOLLOW_LINKS)
                    .setPermissions(permissions.get());
        }
    }

    private static boolean posix(Path path) {
        return Files.getFileAttributeView(path, PosixFileAttributeView.class) != null;
    }
}
