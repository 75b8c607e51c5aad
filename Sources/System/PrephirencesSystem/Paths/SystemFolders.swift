/// Folders that belong to root on every system, by the Filesystem Hierarchy Standard.
///
/// In a user namespace, root may have no number, and these folders look owned by nobody. So do
/// folders of other users, who could replace what is in them. Only the name distinguishes the two:
/// if another user owned one of these, that user would own the whole system.
enum SystemFolders {
  static func contains(_ path: String) -> Bool { paths.contains(path) }

  private static let paths: Set = [
    "/", "/dev", "/dev/shm", "/etc", "/home", "/media", "/mnt", "/opt", "/run", "/run/credentials",
    "/run/lock", "/run/secrets", "/run/user", "/srv", "/tmp", "/usr", "/usr/lib", "/usr/local",
    "/usr/share", "/var", "/var/cache", "/var/home", "/var/lib", "/var/lock", "/var/log",
    "/var/mnt", "/var/opt", "/var/run", "/var/spool", "/var/srv", "/var/tmp",
  ]
}
