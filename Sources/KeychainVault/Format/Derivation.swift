internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// The derivations of the vault format, `D(key, label, fields)`, with their labels.
///
/// Failures can only be a lack of memory; they are translated here, once.
enum Derivation {
  static func key(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try unsafe KeyDerivation.key(from: key, label: label, fields: fields.span.bytes)
    } catch {
      throw KeychainError(error)
    }
  }

  static func tag(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> Data {
    do throws(SecretsError) {
      return Data(
        try unsafe KeyDerivation.tag(from: key, label: label, fields: fields.span.bytes))
    } catch {
      throw KeychainError(error)
    }
  }

  /// The first 16 bytes of a tag.
  static func shortTag(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> Data {
    try tag(key, label, fields).prefix(16)
  }

  static func hash(_ bytes: Data, count: Int) throws(KeychainError) -> Data {
    do throws(SecretsError) {
      return Data(try Blake2b.digest(bytes.bytes, count: count))
    } catch {
      throw KeychainError(error)
    }
  }
}
