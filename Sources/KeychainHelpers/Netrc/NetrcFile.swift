public import KeychainSecrets

/// The text of a netrc file.
public struct NetrcFile: ~Copyable, Sendable {
  /// The text, which contains passwords.
  public let text: SecretBytes
}
