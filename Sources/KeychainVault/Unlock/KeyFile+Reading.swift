internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension KeyFile {
  /// Reads a key file.
  ///
  /// `name` is how errors name its source.
  static func read(
    _ path: String, name: String, policy: SecretFilePolicy
  ) throws(KeychainError) -> SecretBytes {
    let contents = try SecretFile.named(path, name: name, policy: policy)
    guard contents.count >= KeyFile.counts.lowerBound else {
      throw KeychainError(
        .refused, "the key file \(path) has \(contents.count) bytes; it needs at least 32",
        recovery: "make one: head -c 32 /dev/urandom > FILE; chmod 600 FILE")
    }
    return contents
  }
}
