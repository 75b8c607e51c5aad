package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The row of a slot.
///
/// It opens something only if the signed list of members has it.
package struct SlotRow: Hashable, Sendable {
  package let number: UInt32
  package let kind: SlotKind
  package let grant: SlotGrant
  package let parameters: Data
  package let salt: Data

  /// The administration key of the vault when the slot was made.
  package let made: Data
  package let commitment: Data
  package let box: Data
  package let sum: Data

  package init(
    number: UInt32, kind: SlotKind, grant: SlotGrant, parameters: Data, salt: Data, made: Data,
    commitment: Data, box: Data, sum: Data
  ) {
    self.number = number
    self.kind = kind
    self.grant = grant
    self.parameters = parameters
    self.salt = salt
    self.made = made
    self.commitment = commitment
    self.box = box
    self.sum = sum
  }

  /// Creates a row with its sum.
  package init(
    header: SlotHeader, grant: SlotGrant, commitment: Data, box: Data
  ) throws(KeychainError) {
    let fields = Self.fields(header, grant, commitment, box)
    self.init(
      number: header.number, kind: header.kind, grant: grant, parameters: header.parameters,
      salt: header.salt, made: header.made, commitment: commitment, box: box,
      sum: try Derivation.hash(Data(fields), count: 16))
  }

  private static func fields(
    _ header: SlotHeader, _ grant: SlotGrant, _ commitment: Data, _ box: Data
  ) -> [UInt8] {
    FieldWriter.fields {
      $0.integer(header.number)
      $0.integer(header.kind.rawValue)
      $0.integer(grant.rawValue)
      for column in [header.parameters, header.salt, header.made, commitment, box] {
        $0.byteString(column)
      }
    }
  }

  /// All columns before the sum.
  package var fields: [UInt8] { Self.fields(header, grant, commitment, box) }

  /// What a new box for the slot keeps.
  package var header: SlotHeader {
    SlotHeader(number: number, kind: kind, parameters: parameters, salt: salt, made: made)
  }

  /// The hash by which the list of members knows the row.
  package func rowHash() throws(KeychainError) -> Data {
    try Derivation.hash("pk2/slot.row", fields)
  }

  /// Returns the sum that the row should have.
  package func expectedSum() throws(KeychainError) -> Data {
    try Derivation.hash(Data(fields), count: 16)
  }

  /// Whether a device secret alone opens everything with it.
  package var isFullDevice: Bool { grant == .administers && kind == .device }

  /// Whether the columns have the lengths and values that the format requires.
  ///
  /// Otherwise no writer made the slot, even if its sum is right, because the sum has no key.
  package var isWellFormed: Bool {
    number > 0 && hasWellFormedParameters
      && [salt, made, commitment].allSatisfy { $0.count == 32 }
      && box.count == grant.keyCount + KeyBinding.count + SealedBox.overhead
  }

  private var hasWellFormedParameters: Bool {
    switch kind {
    case .passphrase: PasswordHash.Parameters(encoded: parameters)?.isAcceptable ?? false
    case .keyFile, .device, .recoveryCode, .recipient: parameters.isEmpty
    }
  }

  /// Returns the public description of the slot.
  ///
  /// `member` is its entry in the list of members; `nil` while the list can't be read, or if it does
  /// not have the slot, which `isListed` tells apart. `grant` is what the slot is about to get.
  package func described(
    isThisDevice: Bool?, member: Member?, grant newGrant: SlotGrant? = nil, isListed: Bool? = nil
  ) -> VaultSlot {
    VaultSlot(
      number: number, kind: kind, grant: newGrant ?? grant,
      passwordHash: kind == .passphrase ? PasswordHash.Parameters(encoded: parameters) : nil,
      isThisDevice: kind == .device ? isThisDevice : nil,
      recipient: member?.recipient, isListed: isListed ?? member.map { _ in true },
      name: member?.name ?? "")
  }
}

/// What stays of a slot when it gets a new box.
package struct SlotHeader: Hashable, Sendable {
  package let number: UInt32
  package let kind: SlotKind
  package let parameters: Data
  package let salt: Data

  /// The administration key of the vault when the slot was made.
  ///
  /// A person's secret names it in this way, so that nobody can give the slot keys under another one.
  package let made: Data

  package init(number: UInt32, kind: SlotKind, parameters: Data, salt: Data, made: Data) {
    self.number = number
    self.kind = kind
    self.parameters = parameters
    self.salt = salt
    self.made = made
  }

  /// The fields to which the slot's keys are bound.
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
