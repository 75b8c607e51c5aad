internal import Glibc
internal import SystemPackage

/// The owner of a file or folder.
enum FileOwner {
  case user
  case root

  /// A user outside of this process's user namespace: root of the machine, or any other user.
  case unmapped

  case other

  /// Finds the owner of what is at a path.
  ///
  /// For a symbolic link, the user cannot be found with certainty.
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

  /// In a namespace without any numbers, the user's own files look like everybody's.
  ///
  /// If the mode permits only the owner, and the kernel permits this process, then this process is
  /// the owner: the kernel checks the real owner, and capabilities don't count for files of
  /// unmapped owners.
  private static func isCertainlyUser(_ stat: Stat, _ path: String) -> Bool {
    guard stat.userID.rawValue == geteuid(), getuid() == geteuid(),
      stat.type == .regular || stat.type == .directory
    else { return false }
    let mode = stat.permissions.rawValue
    let may = { (how: CInt) in unsafe access(path, how) == 0 }
    return (mode & 0o022 == 0 && may(W_OK)) || (mode & 0o044 == 0 && may(R_OK))
  }
}
