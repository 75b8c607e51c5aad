package import FoundationEssentials
package import KeychainSecrets

/// The permanent id of a vault: 16 random bytes, to which every key is bound.
package struct VaultID: Hashable, Sendable {
  package static let count = 16

  package let bytes: Data

  package init(bytes: Data) { self.bytes = bytes }

  package static func random() throws(KeychainError) -> VaultID {
    VaultID(bytes: try .random(count: count))
  }
}

/// The vault, epoch and administration key of a head; they exist before it: its slots are sealed
/// for them.
package struct HeadIdentity: Hashable, Sendable {
  package let id: VaultID
  package let epoch: UInt64

  /// The public key that signs the list of members.
  package let administration: Data

  /// The bytes to which every key must be bound; a key of another vault, epoch or administration
  /// key is never used.
  package let binding: Data

  package static let greatestEpoch: UInt64 = 1 << 31
  static let bindingCount = 32

  package init(id: VaultID, epoch: UInt64, administration: Data) throws(KeychainError) {
    self.id = id
    self.epoch = epoch
    self.administration = administration
    binding = try Derivation.hash(
      "pk3/binding",
      FieldWriter.fields {
        $0.byteString(id.bytes)
        $0.integer(epoch)
        $0.byteString(administration)
      })
  }
}
