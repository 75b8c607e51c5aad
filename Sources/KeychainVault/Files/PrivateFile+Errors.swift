internal import Glibc
internal import KeychainCredentials
internal import SystemPackage

/// Why a file is not taken.
extension KeychainError {
  static func ofUnmappedUser(_ path: String) -> Self {
    Self(
      .insecurePermissions,
      "\(path) belongs to a user outside of this user namespace, who cannot be told from others",
      recovery: "use a file of your own; a systemd user service gets one by LoadCredential=")
  }

  static func ofOtherUser(_ stat: Stat, _ path: String) -> Self {
    Self(
      .insecurePermissions,
      "\(path) belongs to another user (number \(stat.userID.rawValue))",
      recovery: OwnerCommand.hint(stat).map(Recovery.advice)
        ?? "run as that user, or: chown \(geteuid()) '\(path)'")
  }

  /// A file with a secret is the one kind that may belong to root.
  static func openToOthers(_ stat: Stat, _ path: String, ownerMayBeRoot isSecret: Bool) -> Self {
    let mode = stat.permissions.rawValue
    let isRootsOnly = isSecret && stat.userID.rawValue != geteuid()
    var ways: [Recovery] = []
    if isRootsOnly {
      // Closed to all but root, it could not be read.
      ways.append("have it belong to user \(geteuid()), with mode 400")
    } else {
      ways.append(
        "if it is to be yours alone: chmod 600 '\(path)'; if others may have read it, "
          + "change what it protects")
    }
    if isSecret, mode & 0o022 == 0 {
      ways.append(
        mode & 0o007 == 0
          ? "if its group may read it, as in a container: \(.allowReaders(.group)), or "
            + "\(SecretFilePolicy.variable)=group"
          : "if everybody here may read it, as in a container: \(.allowReaders(.others)), or "
            + "\(SecretFilePolicy.variable)=others")
    }
    return Self(
      .insecurePermissions,
      isSecret && mode & 0o022 == 0
        ? "other users can read \(path)" : "other users can read or write \(path)",
      recovery: ways.joined(separator: "; "))
  }
}
