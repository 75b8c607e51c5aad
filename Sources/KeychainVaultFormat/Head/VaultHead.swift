package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// The head of a vault's file: which vault it is, which keys it has, and who may open it.
///
/// Nothing in it is proven before the vault is unlocked: a base names it by its hash.
package struct VaultHead: Hashable, Sendable {
  /// The bytes of the head.
  package let bytes: Data
  package let lengths: Lengths
  package let identity: HeadIdentity
  package let checks: VaultChecks

  /// The slots that this release can try, in the order of the file.
  package let slots: [SlotRow]

  /// The kinds of the slots that break the format or have an unknown grant; `nil` for one whose kind
  /// cannot be read.
  ///
  /// If no slot opens and a slot of the presented kind is malformed, the vault is damaged, and the
  /// passphrase or key may be right.
  package let malformed: Set<SlotKind?>

  /// All slots as the file has them, those of unknown kinds included, in the order of the file.
  package let storedSlots: [Data]

  /// The hashes of ``storedSlots``.
  package let slotHashes: [Data]

  /// The box of the list of members.
  package let list: Data

  /// The box of the administration key.
  package let administrationBox: Data

  /// The changes of the administration key; see ``Succession``.
  package let successions: [Data]

  /// The maximum number of bytes of a head.
  package static let maximumCount = 262_144
  package static let greatestEpoch = HeadIdentity.greatestEpoch

  package var id: VaultID { identity.id }
  package var epoch: UInt64 { identity.epoch }

  /// The public key that signs the list of members.
  package var administration: Data { identity.administration }

  /// The vault, epoch and administration key that every key must be bound to.
  package var binding: KeyBinding { identity.binding }

  /// Reads a head.
  ///
  /// The bytes are the whole head, as long as it says itself. That the lengths fit in the file,
  /// ``lengths(prefix:fileLength:path:)`` checks.
  package init(_ bytes: Data, path: String) throws(KeychainError) {
    lengths = try Self.lengths(prefix: bytes, fileLength: .max, path: path)
    guard lengths.head == bytes.count else { throw .damagedHead(path) }
    let fields: Fields
    do throws(FieldReader.Malformed) {
      fields = try Fields(bytes.bytes)
    } catch {
      throw .damagedHead(path)
    }
    guard !fields.hasFeatures else {
      throw KeychainError(
        .unsupportedFormat, "the vault \(path) needs a feature that this release does not know",
        recovery: "use a newer release")
    }
    guard let slots = StoredSlots(fields.slots) else { throw .damagedHead(path) }
    self.bytes = bytes
    identity = try HeadIdentity(
      id: fields.id, epoch: fields.epoch, administration: fields.administration)
    checks = fields.checks
    self.slots = slots.known
    malformed = slots.malformed
    storedSlots = fields.slots
    var hashes: [Data] = []
    for slot in fields.slots {
      hashes.append(try Derivation.hash("pk3/slot", of: slot.bytes))
    }
    slotHashes = hashes
    list = fields.list
    administrationBox = fields.administrationBox
    successions = fields.successions
  }

  /// `H(head)`, by which a base names the head.
  package func hash() throws(KeychainError) -> Data { try Derivation.hash(of: bytes) }

  /// The check of the vault, which people compare and identities are pinned to.
  package func check() throws(KeychainError) -> VaultCheck { try identity.check() }
}
