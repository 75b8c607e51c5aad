internal import Glibc

/// How root works on files of another user: by running the command as that user.
///
/// If root created or took over files in the folders of a service, the service would be locked out.
enum OwnerCommand {
  /// Returns what to do about a file or folder of another user; `nil` if the process is not root.
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
