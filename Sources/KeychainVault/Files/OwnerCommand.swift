internal import Glibc
internal import SystemPackage

/// How root does something to files of another user: as that user.
///
/// What root makes or takes over in the folders of a service would lock the service out.
enum OwnerCommand {
  /// What to do about a file or folder of another user; `nil` if the process is not root.
  static func hint(_ stat: Stat) -> String? {
    let user = stat.userID.rawValue
    guard geteuid() == 0, user != 0 else { return nil }
    let prefix =
      name(of: user).map { "runuser -u \($0) --" }
      ?? "setpriv --reuid \(user) --regid \(stat.groupID.rawValue) --clear-groups"
    return "run the command as its owner: \(prefix) COMMAND …"
  }

  private static func name(of user: UInt32) -> String? {
    guard let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name else {
      return nil
    }
    return unsafe String(validatingCString: name)
  }
}
