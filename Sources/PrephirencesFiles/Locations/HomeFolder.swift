internal import Glibc

/// The user's home folder, as far as this process can use it.
package enum HomeFolder: Hashable {
  /// It is there.
  case usable(String)

  /// A folder is named, and there is none: system users often have `/nonexistent`.
  case missing(String)

  /// The folder is there, and this process cannot enter it, as with `ProtectHome=` of a service.
  case closed(String)

  /// None is named.
  case none

  /// Looks for the folder that `HOME` names, else for that of the account.
  package init(_ environment: EnvironmentVariables) {
    guard let path = environment.absolutePath("HOME") else {
      self = Self.ofAccount()
      return
    }
    // Containers set it for users without an account; the root folder is a home for its owner alone.
    self = path == "/" && !Self.isOwn(path) ? .none : Self.looking(at: path)
  }

  /// The home folder of the account, if it is the user's own: system users often have `/`, or a folder of
  /// the system's.
  private static func ofAccount() -> Self {
    guard let entry = unsafe getpwuid(geteuid()), let folder = unsafe entry.pointee.pw_dir,
      let path = unsafe String(validatingCString: folder), path.hasPrefix("/")
    else { return .none }
    let found = looking(at: path)
    guard case .usable = found else { return found }
    return isOwn(path) ? found : .none
  }

  private static func isOwn(_ path: String) -> Bool { status(of: path).status?.st_uid == geteuid() }

  /// Failures other than absence and permission say nothing about the folder: a network's file system
  /// that does not answer must not lead to another place.
  private static func looking(at path: String) -> Self {
    let (status, error) = status(of: path)
    if let status {
      // Whoever starts a program as another user often leaves HOME as it was.
      let isBarred = unsafe status.st_uid != geteuid() && access(path, X_OK) != 0
      return isBarred || ClosedFolder.isClosed(status) ? .closed(path) : .usable(path)
    }
    return switch error {
    case ENOENT, ENOTDIR: ClosedFolder.above(path) == nil ? .missing(path) : .closed(path)
    case EACCES: .closed(path)
    default: .usable(path)
    }
  }

  /// The slash makes an automounter mount the folder, and excludes files.
  private static func status(of path: String) -> (status: stat?, error: CInt) {
    let path = path + "/"
    var status = stat()
    let result = unsafe stat(path, &status)
    let error = errno
    return result == 0 ? (status, 0) : (nil, error)
  }

  /// Why there is no place below it.
  var reason: String {
    switch self {
    case .usable(let path): "the home folder \(path) cannot be used"
    case .missing(let path): "the home folder \(path) does not exist"
    case .closed(let path):
      "the home folder \(path) is closed to this process, as by ProtectHome= of a service"
    case .none: "no home folder is known"
    }
  }
}
