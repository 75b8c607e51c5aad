package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The row of a slot.
package struct SlotRow: Hashable, Sendable {
  package let number: UInt32
  package let kind: SlotKind
  package let grant: SlotGrant
  package let parameters: Data
  package let salt: Data
  package let commitment: Data
  package let box: Data
  package var mac = Data()
  package var sum = Data()

  package init(
    number: UInt32, kind: SlotKind, grant: SlotGrant, parameters: Data, salt: Data,
    commitment: Data, box: Data, mac: Data = Data(), sum: Data = Data()
  ) {
    self.number = number
    self.kind = kind
    self.grant = grant
    self.parameters = parameters
    self.salt = salt
    self.commitment = commitment
    self.box = box
    self.mac = mac
    self.sum = sum
  }

  /// Returns the fields to which the input key is bound.
  package static func header(
    kind: SlotKind, grant: SlotGrant, parameters: Data, salt: Data
  ) -> [UInt8] {
    FieldWriter.fields {
      $0.integer(kind.rawValue)
      $0.integer(grant.rawValue)
      $0.byteString(parameters)
      $0.byteString(salt)
    }
  }

  package var header: [UInt8] {
    Self.header(kind: kind, grant: grant, parameters: parameters, salt: salt)
  }

  /// All columns before the mac.
  package var row: [UInt8] {
    FieldWriter.fields {
      $0.integer(number)
      $0.integer(kind.rawValue)
      $0.integer(grant.rawValue)
      for column in [parameters, salt, commitment, box] { $0.byteString(column) }
    }
  }

  /// The fields that the sum and the state term cover: all columns before the sum.
  package var fields: [UInt8] {
    row + FieldWriter.fields { $0.byteString(mac) }
  }

  package func macUnder(_ root: borrowing SecretBytes) throws(KeychainError) -> Data {
    try Derivation.tag(root, "pk1/slot.mac", row)
  }

  /// Whether the slot was made by a holder of the root key.
  package func isMade(byHolderOf root: borrowing SecretBytes) throws(KeychainError) -> Bool {
    ConstantTime.equal(try macUnder(root).bytes, mac.bytes)
  }

  /// Returns the sum that the row should have.
  package func expectedSum() throws(KeychainError) -> Data {
    try Derivation.hash(Data(fields), count: 16)
  }

  /// Returns the row with its mac and sum.
  package func authenticated(by root: borrowing SecretBytes) throws(KeychainError) -> SlotRow {
    var row = self
    row.mac = try macUnder(root)
    row.sum = try row.expectedSum()
    return row
  }

  /// Whether a device slot must be limited if this slot exists: that is the purpose of a passphrase
  /// or key file.
  package var cutsDevices: Bool { kind == .passphrase || kind == .keyFile }

  /// Whether it opens everything and is for daily use, unlike a recovery code.
  package var isDailyKey: Bool { grant == .root && (cutsDevices || kind == .recipient) }

  /// Whether a device secret alone opens everything with it.
  package var isFullDevice: Bool { grant == .root && kind == .device }

  /// Returns the public description of the slot; `newGrant` is what it is about to give.
  package func described(isThisDevice: Bool?, grant newGrant: SlotGrant? = nil) -> VaultSlot {
    VaultSlot(
      number: number, kind: kind, grant: newGrant ?? grant,
      passwordHash: kind == .passphrase ? PasswordHash.Parameters(encoded: parameters) : nil,
      isThisDevice: kind == .device ? isThisDevice : nil,
      recipient: recipient)
  }

  /// The recipient whose identity opens the slot.
  package var recipient: VaultRecipient? {
    kind == .recipient ? VaultRecipient(publicKey: parameters) : nil
  }

  /// Whether the columns have the right lengths, and kind, grant and parameters match, as the
  /// format requires.
  ///
  /// Otherwise no writer made the slot, even if its sum is right, because the sum has no key.
  package var isWellFormed: Bool {
    (grant == .root || kind == .device) && hasWellFormedParameters
      && [salt, commitment, mac].allSatisfy { $0.count == 32 } && box.count == 32 + boxOverhead
  }

  private var hasWellFormedParameters: Bool {
    switch kind {
    case .passphrase: PasswordHash.Parameters(encoded: parameters)?.isAcceptable ?? false
    case .keyFile, .device, .recoveryCode: parameters.isEmpty
    case .recipient: parameters.count == SealedBox.keyCount
    }
  }

  private var boxOverhead: Int {
    kind == .recipient ? SealedBox.overhead : SecretBox.overhead
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
