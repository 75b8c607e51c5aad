internal import KeychainCredentials
internal import KeychainSecrets

/// Lines `key=value` for git, in guarded memory.
struct GitCredentialAnswer: ~Copyable {
  private var buffer: SecretBuffer

  init() throws(KeychainError) {
    buffer = try translated(secrets: SecretBuffer(capacity: 256))
  }

  mutating func append(_ key: String, _ value: String) throws(KeychainError) {
    try append(line: "\(key)=\(value)")
  }

  mutating func append(_ key: String, _ value: SharedSecret) throws(KeychainError) {
    try append(text: "\(key)=")
    try append(value)
    try append(line: "")
  }

  mutating func append(line: String) throws(KeychainError) {
    try append(text: line + "\n")
  }

  mutating func append(_ value: SharedSecret) throws(KeychainError) {
    do throws(SecretsError) {
      try value.bytes.withBytes { bytes throws(SecretsError) in try buffer.append(bytes) }
    } catch {
      throw KeychainError(error)
    }
  }

  private mutating func append(text: String) throws(KeychainError) {
    do throws(SecretsError) {
      for byte in text.utf8 { try buffer.append(byte) }
    } catch {
      throw KeychainError(error)
    }
  }

  /// Returns the lines without their last bytes.
  consuming func finish(droppingLast count: Int = 0) throws(KeychainError) -> SecretBytes {
    buffer.removeLast(count)
    do throws(SecretsError) { return try buffer.finish() } catch { throw KeychainError(error) }
  }
}
