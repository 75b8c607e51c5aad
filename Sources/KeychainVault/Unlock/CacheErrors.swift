internal import Glibc
package import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

extension KeychainError {
  /// The error if the kernel keeps no keys here.
  static func noCache(_ error: Errno) -> Self {
    Self(
      .refused,
      "the vault cannot be kept unlocked here: the kernel's keyring says \(error.words)",
      recovery: reason(error) + .giveKeyEachTime,
      underlying: .system(errno: error.rawValue))
  }

  /// The error if the kernel does not remove a key.
  static let keyStays = KeychainError(
    .inputOutput, "the kernel does not remove a key of the vault from the user's keyring",
    recovery: "remove it with 'keyctl purge user', or restart the machine")

  /// The same error of a vault that cannot be read, after its keys were removed.
  package var afterForgettingKeys: Self {
    Self(
      code, "\(message); the keys of the vault were forgotten all the same", recovery: recovery,
      underlying: underlying)
  }

  /// The error if nobody knows which keys are of the vault that was at a path.
  static func unknownKeysMayStay(_ record: String) -> Self {
    Self(
      .damaged,
      "keys of the vault that was seen here may stay: its record \(record) cannot be read",
      recovery: "if another vault lies here, remove them with 'keyctl purge user'; otherwise run "
        + "\(.verify), which writes the record again")
  }

  private static func reason(_ error: Errno) -> Recovery {
    switch error.rawValue {
    // Filters of container engines return these for calls that they deny.
    case EPERM, ENOSYS:
      "containers deny it, unless their seccomp profile allows add_key and keyctl: "
    case EDQUOT: "the user's quota of keys is used up (see /proc/key-users): "
    default: ""
    }
  }
}
