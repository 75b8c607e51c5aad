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
    try translated(
      secrets: unsafe KeyDerivation.key(from: key, label: label, fields: fields.span.bytes))
  }

  package static func tag(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> Data {
    try translated(
      secrets: Data(
        copying: unsafe KeyDerivation.tag(from: key, label: label, fields: fields.span.bytes)))
  }

  /// Returns the first 16 bytes of a tag.
  package static func shortTag(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> Data {
    try tag(key, label, fields).prefix(16)
  }

  /// Returns `H(count, bytes)`: a hash without a label.
  package static func hash(_ bytes: Data, count: Int) throws(KeychainError) -> Data {
    try translated(secrets: Data(copying: Blake2b.digest(bytes.bytes, count: count)))
  }

  /// Returns `HL(label, fields)`: a hash of 32 bytes for one purpose.
  package static func hash(_ label: String, _ fields: [UInt8]) throws(KeychainError) -> Data {
    try unsafe hash(label, of: fields.span.bytes)
  }

  /// Returns `HL(label, bytes)`.
  static func hash(_ label: String, of bytes: RawSpan) throws(KeychainError) -> Data {
    try translated(secrets: Data(copying: Blake2b.digest(bytes, label: label)))
  }

  /// Returns `H(bytes)`: 32 bytes that name a box, or the head.
  package static func hash(of bytes: Data) throws(KeychainError) -> Data {
    try hash(bytes, count: 32)
  }
}
