package import Glibc

/// The folders of a program's files, by the XDG base directory specification, also without a home.
package struct UserFolders: Sendable {
  package let environment: EnvironmentVariables

  /// The name of the program's folder in each base folder.
  package let name: String

  package init(_ name: String, environment: EnvironmentVariables) {
    self.name = name
    self.environment = environment
  }

  /// Whether a variable names the folder of the data, instead of the home folder.
  package var namesData: Bool { (try? environment.absolutePath("XDG_DATA_HOME")) != nil }

  /// Whether a variable names the folder of the state, instead of the home folder.
  package var namesState: Bool { (try? environment.absolutePath("XDG_STATE_HOME")) != nil }

  package func data() throws(FileError) -> String {
    try folder("XDG_DATA_HOME", belowHome: ".local/share")
  }

  /// Returns the folder for state of this machine alone.
  package func state() throws(FileError) -> String {
    try folder("XDG_STATE_HOME", belowHome: ".local/state")
  }

  package func configuration() throws(FileError) -> String {
    try folder("XDG_CONFIG_HOME", belowHome: ".config")
  }

  /// Returns the folder with every program's configuration.
  package static func configurationBase(
    _ environment: EnvironmentVariables
  ) throws(FileError) -> String {
    try UserFolders("", environment: environment).base("XDG_CONFIG_HOME", belowHome: ".config")
  }

  /// The folder of files that are lost at logout; `nil` if there is no session.
  package func runtime() throws(FileError) -> String? {
    try environment.absolutePath("XDG_RUNTIME_DIR").map { $0 + "/" + name }
  }

  private func folder(_ variable: String, belowHome: String) throws(FileError) -> String {
    try base(variable, belowHome: belowHome) + "/" + name
  }

  private func base(_ variable: String, belowHome: String) throws(FileError) -> String {
    if let path = try environment.absolutePath(variable) { return path }
    let home = try HomeFolder(environment)
    if case .usable(let path) = home { return path + "/" + belowHome }
    // systemd creates this folder for a service that requests it, and passes a list for several.
    if let folders = try environment.absolutePath("STATE_DIRECTORY"),
      let folder = folders.split(separator: ":").first.map(String.init)
    {
      let (_, error) = HomeFolder.status(of: folder)
      guard error != ENOENT, error != ENOTDIR else {
        throw FileError(
          .noPlace(
            reason: "\(home.reason), nor does the folder \(folder), which STATE_DIRECTORY names"),
          "")
      }
      return folder
    }
    throw FileError(.noPlace(reason: home.reason), "")
  }
}

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
    // Containers set HOME=/ for users without an account. The root folder is a home only for its
    // owner.
    self = path == "/" && !Self.isOwn(path) ? .none : Self.looking(at: path)
  }

  /// Returns the home folder of the account, if it belongs to the user; accounts of the system
  /// often have `/` or a folder of the system.
  private static func ofAccount() -> Self {
    guard let entry = unsafe getpwuid(geteuid()), let folder = unsafe entry.pointee.pw_dir,
      let path = unsafe String(validatingCString: folder), path.hasPrefix("/")
    else { return .none }
    let found = looking(at: path)
    guard case .usable = found else { return found }
    return isOwn(path) ? found : .none
  }

  private static func isOwn(_ path: String) -> Bool { status(of: path).status?.st_uid == geteuid() }

  /// Other errors than absence and missing permission say nothing about the folder: while a network
  /// file system does not answer, no other place may be used.
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

  /// Returns the status of a folder; the final slash makes an automounter mount it, and excludes
  /// files.
  fileprivate static func status(of path: String) -> (status: stat?, error: CInt) {
    let path = path + "/"
    var status = stat()
    let result = unsafe stat(path, &status)
    let error = errno
    return result == 0 ? (status, 0) : (nil, error)
  }

  /// Why no folder can be used below it.
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
