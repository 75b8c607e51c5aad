package import Glibc

/// A folder that nobody may enter, such as systemd mounts over what it hides from a service.
///
/// `ProtectHome=yes` and `InaccessiblePaths=` mount an empty folder with mode 0000; see
/// systemd.exec(5). The superuser can still enter it, and would consider the hidden files missing.
package enum ClosedFolder {
  package static func isClosed(_ status: stat) -> Bool {
    status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o777 == 0
  }

  /// Returns the first closed folder on the way to a path, or at it; `nil` if there is none.
  package static func above(_ path: String) -> String? {
    var reached = ""
    for component in path.split(separator: "/") {
      reached += "/" + component
      var status = stat()
      guard unsafe stat(reached, &status) == 0 else { return nil }
      if isClosed(status) { return reached }
    }
    return nil
  }
}
