package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// A slot of the head, of a known kind and grant.
///
/// It opens something only if the signed list of members has it.
package struct SlotRow: Hashable, Sendable {
  package let number: UInt32
  package let kind: SlotKind
  package var grant: SlotGrant
  package var parameters = Data()
  package let salt: Data

  /// The administration key of the vault when the slot's secret was last presented in a change of
  /// members: so nobody can give the slot keys under another one.
  package var made: Data
  var commitment = Data()
  var box = Data()
}

extension SlotRow {
  /// Reads a slot; `nil` if its kind or grant is not known, or a field breaks the format.
  package init?(encoded: Data) {
    guard let slot = try? Self.read(encoded.bytes), slot.isWellFormed else { return nil }
    self = slot
  }

  private static func read(_ bytes: RawSpan) throws(FieldReader.Malformed) -> SlotRow {
    var reader = FieldReader()
    let number: UInt32 = try reader.integer(bytes)
    guard let kind = SlotKind(rawValue: try reader.integer(bytes)),
      let grant = SlotGrant(rawValue: try reader.integer(bytes))
    else { throw FieldReader.Malformed() }
    let slot = SlotRow(
      number: number, kind: kind, grant: grant, parameters: try reader.data(bytes),
      salt: try reader.data(bytes, count: 32), made: try reader.data(bytes, count: 32),
      commitment: try reader.data(bytes, count: 32), box: try reader.data(bytes))
    try reader.end(bytes)
    return slot
  }

  /// The slot as the head has it.
  package var fields: [UInt8] {
    FieldWriter.fields(capacity: 384) {
      $0.integer(number)
      $0.integer(kind.rawValue)
      $0.integer(grant.rawValue)
      $0.byteString(parameters)
      for field in [salt, made, commitment] { $0.append(field) }
      $0.byteString(box)
    }
  }

  /// The hash by which the list of members knows the slot.
  package func hash() throws(KeychainError) -> Data { try Derivation.hash("pk3/slot", fields) }

  private var isWellFormed: Bool {
    let hasCost = PasswordHash.Parameters(encoded: parameters)?.isSlotCost ?? false
    return number > 0 && (kind == .passphrase ? hasCost : parameters.isEmpty)
      && box.count == grant.keyCount + HeadIdentity.bindingCount + SealedBox.overhead
  }

  /// Returns the public description of the slot.
  ///
  /// `member` is `nil` while the list can't be read. `grant` is what the slot is about to get.
  package func described(
    isThisDevice: Bool?, member: Member?, grant newGrant: SlotGrant? = nil
  ) -> VaultSlot {
    VaultSlot(
      number: number, kind: kind, grant: newGrant ?? grant,
      passwordHash: kind == .passphrase ? PasswordHash.Parameters(encoded: parameters) : nil,
      isThisDevice: kind == .device ? isThisDevice : nil,
      recipient: member?.recipient, name: member?.name ?? "")
  }

  /// Returns the keys that an input key gives to the slot.
  ///
  /// The key that signs is bound to what never changes, so that a recovery code keeps it.
  func keys(
    _ inputKey: borrowing SecretBytes, in vault: VaultID
  ) throws(KeychainError) -> SlotKeys {
    let signing = FieldWriter.fields {
      $0.byteString(vault.bytes)
      $0.integer(number)
      $0.byteString(salt)
    }
    return try SlotKeys(
      boxSecret: try Derivation.key(inputKey, "pk3/slot.box", fields(in: vault)),
      signingSeed: try Derivation.key(inputKey, "pk3/slot.sign", signing))
  }

  /// Returns what shows that a key is the one of this slot.
  func commitment(
    to key: borrowing SecretBytes, in vault: VaultID
  ) throws(KeychainError) -> Data {
    try Derivation.tag(key, "pk3/slot.commit", fields(in: vault))
  }

  /// The fields to which the slot's commitment, and the key that opens its box, are bound.
  func fields(in vault: VaultID) -> [UInt8] {
    FieldWriter.fields {
      $0.byteString(vault.bytes)
      $0.integer(number)
      $0.integer(kind.rawValue)
      $0.byteString(parameters)
      $0.byteString(salt)
      $0.byteString(made)
    }
  }
}

extension PasswordHash.Parameters {
  /// Whether a slot may have this cost: a file must not decide how long its reader works.
  package var isSlotCost: Bool { self == .moderate || self == .interactive }

  package var encoded: Data {
    Data(
      FieldWriter.fields {
        $0.integer(memory)
        $0.integer(passes)
      })
  }

  package init?(encoded: Data) {
    guard encoded.count == 12 else { return nil }
    let bytes = encoded.bytes
    self.init(
      memory: bytes.littleEndian(at: 0, as: UInt64.self),
      passes: bytes.littleEndian(at: 8, as: UInt32.self))
  }
}

/// A slot as the list of members has it.
package struct Member: Hashable, Sendable {
  package let number: UInt32

  /// The kind; `nil` if this release does not know it.
  package var kind: SlotKind? { SlotKind(rawValue: kindNumber) }

  /// What the slot grants; `nil` if this release does not know it.
  package var grant: SlotGrant? { SlotGrant(rawValue: grantNumber) }

  package let kindNumber: UInt8
  package let grantNumber: UInt8

  /// The hash of the slot.
  package let slotHash: Data

  /// The public key to which new keys are sealed.
  package let boxKey: Data

  /// The public key that checks the slot's signatures; empty for slots that sign nothing.
  package let signingKey: Data

  /// What people call the slot; often empty.
  package let name: String

  package static let maximumNameCount = 256

  /// The recipient whose identity opens the slot; `nil` for other kinds.
  package var recipient: VaultRecipient? {
    kind == .recipient ? VaultRecipient(boxKey: boxKey, signingKey: signingKey) : nil
  }

  /// Whether its signature makes a commit of a shared vault count.
  package var writes: Bool { grant == .administers || grant == .readsAndWrites }
}

/// A slot with its entry in the list of members.
package struct ListedSlot: Hashable, Sendable {
  package let slot: SlotRow
  package let member: Member

  package init(slot: SlotRow, member: Member) {
    self.slot = slot
    self.member = member
  }

  package var number: UInt32 { slot.number }
  package var kind: SlotKind { slot.kind }
  package var grant: SlotGrant { slot.grant }
}
