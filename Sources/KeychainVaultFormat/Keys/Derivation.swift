package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The derivations of the vault format, `D(key, label, fields)`, with their labels.
///
/// The only possible failure is a lack of memory, which is translated here.
package enum Derivation {
  package static func key(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try unsafe KeyDerivation.key(from: key, label: label, fields: fields.span.bytes)
    } catch {
      throw KeychainError(error)
    }
  }

  package static func tag(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> Data {
    do throws(SecretsError) {
      return Data(
        try unsafe KeyDerivation.tag(from: key, label: label, fields: fields.span.bytes))
    } catch {
      throw KeychainError(error)
    }
  }

  /// Returns the first 16 bytes of a tag.
  package static func shortTag(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> Data {
    try tag(key, label, fields).prefix(16)
  }

  package static func hash(_ bytes: Data, count: Int) throws(KeychainError) -> Data {
    do throws(SecretsError) {
      return Data(try Blake2b.digest(bytes.bytes, count: count))
    } catch {
      throw KeychainError(error)
    }
  }
}
