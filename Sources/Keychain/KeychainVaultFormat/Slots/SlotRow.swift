package import FoundationEssentials
package import KeychainSecrets

/// A slot of the head, of a known kind and grant; it opens something only if the signed list has
/// it.
package struct SlotRow: Hashable, Sendable {
  package let number: UInt32
  package let kind: SlotKind
  package var grant: SlotGrant
  package var parameters = Data()
  package let salt: Data

  /// The administration key when a change of members last needed the slot's secret.
  package var made: Data
  var commitment = Data()
  var box = Data()
}

extension SlotRow {
  /// Reads a slot; `nil` if its kind or grant is unknown, or a field breaks the format.
  package init?(encoded: Data) {
    guard let slot = try? Self.read(encoded.bytes), slot.isWellFormed else { return nil }
    self = slot
  }

  private static func read(_ bytes: RawSpan) throws(FieldReader.Malformed) -> SlotRow {
    var reader = FieldReader()
    let slot = SlotRow(
      number: try reader.integer(bytes), kind: try reader.value(bytes),
      grant: try reader.value(bytes), parameters: try reader.data(bytes),
      salt: try reader.data(bytes, count: 32), made: try reader.data(bytes, count: 32),
      commitment: try reader.data(bytes, count: 32), box: try reader.data(bytes))
    try reader.end(bytes)
    return slot
  }

  /// The slot as the head contains it.
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

  /// The hash of the slot in the list of members.
  package func hash() throws(KeychainError) -> Data { try Derivation.hash("pk3/slot", fields) }

  private var isWellFormed: Bool {
    let hasCost = PasswordHash.Parameters(encoded: parameters)?.isSlotCost ?? false
    return number > 0 && (kind == .passphrase ? hasCost : parameters.isEmpty)
      && box.count == grant.keyCount + HeadIdentity.bindingCount + SealedBox.overhead
  }

  /// Returns the public description of the slot for a new grant.
  package func described(
    isThisDevice: Bool?, member: Member?, grant newGrant: SlotGrant? = nil
  ) -> VaultSlot {
    VaultSlot(
      number: number, kind: kind, grant: newGrant ?? grant,
      passwordHash: kind == .passphrase ? PasswordHash.Parameters(encoded: parameters) : nil,
      isThisDevice: kind == .device ? isThisDevice : nil,
      recipient: member?.recipient, name: member?.name ?? "")
  }

  /// Returns the keys that a slot derives from an input key.
  func keys(_ inputKey: borrowing SecretBytes, in vault: VaultID) throws(KeychainError) -> SlotKeys
  {
    // Only constant fields, so that a recovery code keeps its signing key.
    let signing = FieldWriter.fields {
      $0.byteString(vault.bytes)
      $0.integer(number)
      $0.byteString(salt)
    }
    return try SlotKeys(
      boxSecret: try Derivation.key(inputKey, "pk3/slot.box", fields(in: vault)),
      signingSeed: try Derivation.key(inputKey, "pk3/slot.sign", signing))
  }

  /// Returns the commitment that shows whether a key belongs to this slot.
  func commitment(to key: borrowing SecretBytes, in vault: VaultID) throws(KeychainError) -> Data {
    try Derivation.tag(key, "pk3/slot.commit", fields(in: vault))
  }

  /// The fields to which the slot's commitment and the key of its box are bound.
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
  /// Whether a slot may have this cost: a file must not decide how long a reader works.
  package var isSlotCost: Bool { self == .moderate || self == .interactive }

  package var encoded: Data {
    let fields = FieldWriter.fields {
      $0.integer(memory)
      $0.integer(passes)
    }
    return Data(copying: fields)
  }

  package init?(encoded: Data) {
    guard encoded.count == 12 else { return nil }
    let bytes = encoded.bytes
    self.init(
      memory: bytes.littleEndian(at: 0, as: UInt64.self),
      passes: bytes.littleEndian(at: 8, as: UInt32.self))
  }
}

/// A slot as the list of members contains it.
package struct Member: Hashable, Sendable {
  package let number: UInt32

  /// The kind; `nil` if it is unknown to this release.
  package var kind: SlotKind? { SlotKind(rawValue: kindNumber) }

  /// The grant; `nil` if it is unknown to this release.
  package var grant: SlotGrant? { SlotGrant(rawValue: grantNumber) }

  package let kindNumber: UInt8
  package let grantNumber: UInt8
  package let slotHash: Data

  /// The public key for sealing new keys.
  package let boxKey: Data

  /// The public key that checks the slot's signatures; empty for slots that sign nothing.
  package let signingKey: Data

  /// The name that people gave the slot; often empty.
  package let name: String

  package static let maximumNameCount = 256

  /// The fields that slots of all kinds have first.
  var start: Data {
    let fields = FieldWriter.fields(capacity: Self.startCount) {
      $0.integer(number)
      $0.integer(kindNumber)
      $0.integer(grantNumber)
    }
    return Data(copying: fields)
  }

  static let startCount = 6

  /// The recipient whose identity opens the slot; `nil` for other kinds.
  package var recipient: VaultRecipient? {
    kind == .recipient ? VaultRecipient(boxKey: boxKey, signingKey: signingKey) : nil
  }

  /// Whether commits of a shared vault may be signed by the slot.
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

  package func described(isThisDevice: Bool?, grant: SlotGrant? = nil) -> VaultSlot {
    slot.described(isThisDevice: isThisDevice, member: member, grant: grant)
  }
}
