package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// What a vault is called for ever: 16 random bytes, from which every key is derived.
package struct VaultID: Hashable, Sendable {
  package static let count = 16

  package let bytes: Data

  package init(bytes: Data) {
    self.bytes = bytes
  }

  package static func random() throws(KeychainError) -> VaultID {
    VaultID(
      bytes: try translated(
        secrets: Data(SecretBytes.random(count: count).withBytes { $0.array })))
  }
}

/// The vault, epoch and administration key to which a key belongs.
///
/// Whatever yields a key, a slot or the unlock cache, holds the binding with it. So a key of another
/// vault, of an older epoch or under another administration key is never used.
package struct KeyBinding: Hashable, Sendable {
  package static let count = 32

  package let bytes: Data

  package init(bytes: Data) {
    self.bytes = bytes
  }

  package init(
    id: VaultID, epoch: UInt64, administration: Data
  ) throws(KeychainError) {
    bytes = try Derivation.hash(
      "pk3/binding",
      FieldWriter.fields {
        $0.byteString(id.bytes)
        $0.integer(epoch)
        $0.byteString(administration)
      })
  }
}
