/// Folders that are root's on every system, by the Filesystem Hierarchy Standard.
///
/// In a user namespace, root may have no number, and these show as owned by nobody. The same holds for folders of
/// other users, who could exchange what lies in them. Only the name tells the two apart: if one of these belonged
/// to somebody else than root, the whole system would.
enum SystemFolders {
  static func contains(_ path: String) -> Bool { paths.contains(path) }

  private static let paths: Set = [
    "/", "/dev", "/dev/shm", "/etc", "/home", "/media", "/mnt", "/opt", "/run", "/run/credentials",
    "/run/lock", "/run/secrets", "/run/user", "/srv", "/tmp", "/usr", "/usr/lib", "/usr/local",
    "/usr/share", "/var", "/var/cache", "/var/home", "/var/lib", "/var/lock", "/var/log",
    "/var/mnt", "/var/opt", "/var/run", "/var/spool", "/var/srv", "/var/tmp",
  ]
}
