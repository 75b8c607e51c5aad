internal import KeychainCredentials
internal import KeychainVault

extension Session {
  /// The identity file that a command is about: the one that is named, else that of the user.
  func identityPath(_ file: String?) throws(KeychainError) -> String {
    if let file { return file }
    return try vault.defaultIdentityPath()
  }
}
