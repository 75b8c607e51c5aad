internal import Glibc
internal import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

extension KeychainError {
  /// The error if the kernel keeps no keys here.
  static func noCache(_ error: Errno) -> Self {
    Self(
      .refused,
      "the vault cannot be kept unlocked here: the kernel's keyring says \(error.words)",
      recovery: reason(error) + "give each command what unlocks the vault: a key file, which needs "
        + "neither time nor memory, by KEYCHAIN_KEY_FILE, or a passphrase by KEYCHAIN_PASSPHRASE_FILE",
      underlying: .system(errno: error.rawValue))
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
