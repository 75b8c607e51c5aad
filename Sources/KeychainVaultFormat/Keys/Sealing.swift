package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// Boxes with the errors of this module.
package enum Sealing {
  package static func seal(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    try translated(secrets: Data(SecretBox.seal(message, with: key)))
  }

  /// Seals fields that were written in ordinary memory: a copy in guarded memory would protect
  /// nothing.
  static func seal(
    fields: [UInt8], with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    try translated(secrets: Data(unsafe SecretBox.seal(fields.span.bytes, with: key)))
  }

  /// Opens a box; `nil` if it was not sealed under this key or was changed.
  package static func open(
    _ box: Data, with key: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes? {
    do throws(SecretsError) {
      return try SecretBox.open(box.bytes, with: key)
    } catch {
      guard error.code == .authenticationFailed else { throw KeychainError(error) }
      return nil
    }
  }

  /// Opens a box that contains no secret of a person into ordinary memory; `nil` as ``open(_:with:)``.
  static func openFields(
    _ box: Data, with key: borrowing SecretBytes
  ) throws(KeychainError) -> [UInt8]? {
    do throws(SecretsError) {
      return try SecretBox.openUnguarded(box.bytes, with: key)
    } catch {
      guard error.code == .authenticationFailed else { throw KeychainError(error) }
      return nil
    }
  }

  /// Pads fields as ``Padding`` does, in ordinary memory.
  static func padded(fields: [UInt8]) -> [UInt8] {
    let count = Padding.paddedCount(for: fields.count)
    var padded = FieldWriter.fields(capacity: count) { $0.byteString(fields) }
    padded += [UInt8](repeating: 0, count: count - padded.count)
    return padded
  }

  package static func sealPadded(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    try translated(secrets: Data(SecretBox.seal(Padding.pad(message), with: key)))
  }

  /// Opens a box and removes the padding; `nil` if either breaks the format, or if there are more
  /// bytes than `limit`.
  package static func openPadded(
    _ box: Data, with key: borrowing SecretBytes, limit: Int
  ) throws(KeychainError) -> SecretBytes? {
    // No memory is allocated for a box that is too long.
    guard box.count <= greatestBoxCount(limit: limit),
      let padded = try open(box, with: key)
    else { return nil }
    do throws(SecretsError) {
      let message = try Padding.unpad(padded)
      guard message.count <= limit else { return nil }
      return message
    } catch {
      guard error.code == .invalidLength else { throw KeychainError(error) }
      return nil
    }
  }

  /// Returns the maximum number of bytes of a box that contains a padded message.
  package static func greatestBoxCount(limit: Int) -> Int {
    SecretBox.overhead + Padding.paddedCount(for: limit)
  }
}
