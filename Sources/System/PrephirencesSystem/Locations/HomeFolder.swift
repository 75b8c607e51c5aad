internal import Glibc

/// The user's home folder, and whether this process can use it.
package enum HomeFolder: Hashable {
  /// The folder exists and can be used.
  case usable(String)

  /// The named folder does not exist: system users often have `/nonexistent`.
  case missing(String)

  /// The folder exists, but this process cannot enter it, for example because of a service's
  /// `ProtectHome=`.
  case closed(String)

  /// No folder is named.
  case none

  /// Finds the folder that `HOME` names, or else that of the account.
  package init(_ environment: EnvironmentVariables) throws(FileError) {
    guard let path = try environment.absolutePath("HOME") else {
      self = Self.ofAccount()
      return
    }
    // Containers set it for users without an account. The root folder is a home only for its owner.
    self = path == "/" && !Self.isOwn(path) ? .none : Self.looking(at: path)
  }

  /// Returns the home folder of the account, if it belongs to the user: system users often have
  /// `/`, or a system folder.
  private static func ofAccount() -> Self {
    guard let entry = unsafe getpwuid(geteuid()), let folder = unsafe entry.pointee.pw_dir,
      let path = unsafe String(validatingCString: folder), path.hasPrefix("/")
    else { return .none }
    let found = looking(at: path)
    guard case .usable = found else { return found }
    return isOwn(path) ? found : .none
  }

  private static func isOwn(_ path: String) -> Bool { status(of: path).status?.st_uid == geteuid() }

  /// Other failures than absence and missing permission say nothing about the folder: if a network
  /// file system does not answer, no other place must be used.
  private static func looking(at path: String) -> Self {
    let (status, error) = status(of: path)
    if let status {
      // A program that is started as another user often keeps the old HOME.
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
      "the home folder \(path) is closed to this process, for example by ProtectHome= of a service"
    case .none: "no home folder is known"
    }
  }
}
