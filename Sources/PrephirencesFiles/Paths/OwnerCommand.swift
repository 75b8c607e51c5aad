internal import Glibc

/// How root does something to files of another user: as that user.
///
/// What root makes or takes over in the folders of a service would lock the service out.
enum OwnerCommand {
  /// What to do about a file or folder of another user; `nil` if the process is not root.
  static func hint(_ owner: FileOwnership) -> String? {
    guard geteuid() == 0, owner.user != 0 else { return nil }
    let prefix =
      name(of: owner.user).map { "runuser -u \($0) --" }
      ?? "setpriv --reuid \(owner.user) --regid \(owner.group) --clear-groups"
    return "run the command as its owner: \(prefix) COMMAND …"
  }

  private static func name(of user: UInt32) -> String? {
    guard let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name else {
      return nil
    }
    return unsafe String(validatingCString: name)
  }
}
