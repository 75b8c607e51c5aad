import KeychainSecrets

extension SecretBytes {
  /// The bytes as text; a test has no real secrets.
  var text: String? { withBytes { $0.text } }
}
