internal import Glibc
internal import SystemPackage

/// Whose a file or folder is.
enum FileOwner {
  case user
  case root

  /// Somebody outside of this process's user namespace: root of the machine, or any other user.
  case unmapped

  case other

  /// Looks at the owner of what lies at a path; a symbolic link has none that is the user for certain.
  init(_ stat: Stat, _ path: String) {
    let number = stat.userID.rawValue
    if UserNamespace.hidesOwner(number) {
      self = Self.isCertainlyUser(stat, path) ? .user : .unmapped
    } else if number == geteuid() {
      self = .user
    } else {
      self = number == 0 ? .root : .other
    }
  }

  var isTrusted: Bool { self == .user || self == .root }

  /// In a namespace without any numbers, the user's own files show as everybody's do.
  ///
  /// What the mode allows to its owner alone, and the kernel to this process, makes this the owner: the
  /// kernel goes by the real owner, and capabilities don't count for files of unmapped owners.
  private static func isCertainlyUser(_ stat: Stat, _ path: String) -> Bool {
    guard stat.userID.rawValue == geteuid(), getuid() == geteuid(),
      stat.type == .regular || stat.type == .directory
    else { return false }
    let mode = stat.permissions.rawValue
    let may = { (how: CInt) in unsafe access(path, how) == 0 }
    return (mode & 0o022 == 0 && may(W_OK)) || (mode & 0o044 == 0 && may(R_OK))
  }
}
