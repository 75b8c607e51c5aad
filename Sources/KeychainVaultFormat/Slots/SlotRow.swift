package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// A slot of the head, of a known kind and grant.
///
/// It opens something only if the signed list of members has it.
package struct SlotRow: Hashable, Sendable {
  package let header: SlotHeader
  package let grant: SlotGrant
  package let commitment: Data
  package let box: Data

  package init(header: SlotHeader, grant: SlotGrant, commitment: Data, box: Data) {
    self.header = header
    self.grant = grant
    self.commitment = commitment
    self.box = box
  }

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
    let header = SlotHeader(
      number: number, kind: kind, parameters: try reader.data(bytes),
      salt: try reader.data(bytes, count: 32), made: try reader.data(bytes, count: 32))
    let slot = SlotRow(
      header: header, grant: grant, commitment: try reader.data(bytes, count: 32),
      box: try reader.data(bytes))
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

  package var number: UInt32 { header.number }
  package var kind: SlotKind { header.kind }
  package var parameters: Data { header.parameters }
  package var salt: Data { header.salt }

  /// The administration key of the vault when the slot was made.
  package var made: Data { header.made }

  /// The hash by which the list of members knows the slot.
  package func hash() throws(KeychainError) -> Data { try Derivation.hash("pk3/slot", fields) }

  /// Whether a device secret alone opens everything with it.
  package var isFullDevice: Bool { grant == .administers && kind == .device }

  /// Whether the fields have the lengths and values that the format requires.
  package var isWellFormed: Bool {
    number > 0 && hasWellFormedParameters
      && [salt, made, commitment].allSatisfy { $0.count == 32 }
      && box.count == grant.keyCount + KeyBinding.count + SealedBox.overhead
  }

  private var hasWellFormedParameters: Bool {
    switch kind {
    case .passphrase: PasswordHash.Parameters(encoded: parameters)?.isSlotCost ?? false
    case .keyFile, .device, .recoveryCode, .recipient: parameters.isEmpty
    }
  }

  /// Returns the public description of the slot.
  ///
  /// `member` is its entry in the list of members; `nil` while the list can't be read. `grant` is what
  /// the slot is about to get.
  package func described(
    isThisDevice: Bool?, member: Member?, grant newGrant: SlotGrant? = nil
  ) -> VaultSlot {
    VaultSlot(
      number: number, kind: kind, grant: newGrant ?? grant,
      passwordHash: kind == .passphrase ? PasswordHash.Parameters(encoded: parameters) : nil,
      isThisDevice: kind == .device ? isThisDevice : nil,
      recipient: member?.recipient, name: member?.name ?? "")
  }
}

/// What stays of a slot when it gets a new box.
package struct SlotHeader: Hashable, Sendable {
  package let number: UInt32
  package let kind: SlotKind
  package let parameters: Data
  package let salt: Data

  /// The administration key of the vault when the slot's secret was last presented in a change of
  /// members.
  ///
  /// A person's secret names it in this way, so that nobody can give the slot keys under another one.
  package var made: Data

  package init(number: UInt32, kind: SlotKind, parameters: Data, salt: Data, made: Data) {
    self.number = number
    self.kind = kind
    self.parameters = parameters
    self.salt = salt
    self.made = made
  }

  /// Returns the keys that an input key gives to the slot.
  package func keys(
    _ inputKey: borrowing SecretBytes, in vault: VaultID
  ) throws(KeychainError) -> SlotKeys {
    let signing = FieldWriter.fields {
      $0.byteString(vault.bytes)
      $0.integer(number)
      $0.byteString(salt)
    }
    return try SlotKeys(inputKey: inputKey, header: fields(in: vault), signing: signing)
  }

  /// The fields to which the slot's commitment, and the key that opens its box, are bound.
  package func fields(in vault: VaultID) -> [UInt8] {
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
