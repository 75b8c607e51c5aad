package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// The row of a change of the administration key.
package struct SuccessionRow: Hashable, Sendable {
  package let epoch: UInt64
  package let record: Data

  package init(epoch: UInt64, record: Data) {
    self.epoch = epoch
    self.record = record
  }

  /// Returns the hash of all rows, which the list of members names.
  package static func hash(of rows: [SuccessionRow]) throws(KeychainError) -> Data {
    try Derivation.hash(
      "pk2/successions",
      FieldWriter.fields { for row in rows { $0.byteString(row.record) } })
  }

  /// Fails unless the rows lead to the head's administration key, one after the other.
  package static func requireOrder(
    _ rows: [SuccessionRow], head: HeadRow
  ) throws(KeychainError) {
    var last: Succession?
    for row in rows {
      let succession = try Succession(row, of: head.id)
      if let last, last.epoch >= succession.epoch || last.newKey != succession.oldKey {
        throw .damagedMembers("its successions do not follow each other")
      }
      last = succession
    }
    guard let last else { return }
    guard last.newKey == head.administration, last.epoch <= head.epoch else {
      throw .damagedMembers("its successions do not lead to its administration key")
    }
  }
}

/// A change of the administration key, with what proves it.
package struct Succession: Hashable, Sendable {
  /// Why the key changed, for people: it decides nothing.
  package enum Reason: UInt8, Sendable {
    case onRequest = 0
    case administratorLeft = 1
  }

  package let epoch: UInt64
  package let oldKey: Data
  package let newKey: Data

  /// The hash of the last list under the old key.
  package let lastList: Data
  package let reason: Reason

  /// The signing key of the recovery code that signed.
  package let recoveryKey: Data?

  private let id: VaultID
  private var oldSignature = Data()
  private var newSignature = Data()
  private var recoverySignature: Data?

  /// Makes a succession; the recovery code signs it if it opened the vault.
  package init(
    id: VaultID, epoch: UInt64, from old: AdministrationKey, to new: AdministrationKey,
    after list: MemberList, reason: Reason, recovery: StateSigner?
  ) throws(KeychainError) {
    self.id = id
    self.epoch = epoch
    self.reason = reason
    oldKey = old.publicKey
    newKey = new.publicKey
    lastList = try list.hash()
    if let recovery { recoveryKey = try recovery.publicKey() } else { recoveryKey = nil }
    oldSignature = try old.sign(body, label: Self.label)
    newSignature = try new.sign(body, label: Self.label)
    if let recovery { recoverySignature = try recovery.sign(Data(body), label: Self.label) }
  }

  /// Reads a row of a vault; fails if it breaks the format.
  package init(_ row: SuccessionRow, of id: VaultID) throws(KeychainError) {
    do throws(FieldReader.Malformed) {
      try self.init(row.record.bytes, of: id)
    } catch {
      throw .damagedMembers("a succession of its administration key breaks the format")
    }
    guard epoch == row.epoch else {
      throw .damagedMembers("a succession of its administration key is of another epoch")
    }
  }

  private init(_ bytes: RawSpan, of id: VaultID) throws(FieldReader.Malformed) {
    var reader = FieldReader()
    let found = Data(try reader.byteString(bytes))
    self.id = id
    epoch = try reader.integer(bytes)
    oldKey = Data(try reader.byteString(bytes))
    newKey = Data(try reader.byteString(bytes))
    lastList = Data(try reader.byteString(bytes))
    guard let reason = Reason(rawValue: try reader.integer(bytes)) else {
      throw FieldReader.Malformed()
    }
    self.reason = reason
    let field = { (reader: inout FieldReader, bytes: RawSpan) throws(FieldReader.Malformed) in
      Data(try reader.byteString(bytes))
    }
    recoveryKey = try reader.optional(bytes, field)
    oldSignature = Data(try reader.byteString(bytes))
    newSignature = Data(try reader.byteString(bytes))
    recoverySignature = try reader.optional(bytes, field)
    try reader.end(bytes)
    guard found == id.bytes, lastList.count == 32,
      [oldKey, newKey, recoveryKey ?? oldKey].allSatisfy({ $0.count == Signature.publicKeyCount }),
      [oldSignature, newSignature, recoverySignature ?? oldSignature].allSatisfy({
        $0.count == Signature.count
      }), (recoveryKey == nil) == (recoverySignature == nil)
    else { throw FieldReader.Malformed() }
  }

  private static let label = "pk2/succession"

  private var body: [UInt8] {
    FieldWriter.fields {
      $0.byteString(id.bytes)
      $0.integer(epoch)
      $0.byteString(oldKey)
      $0.byteString(newKey)
      $0.byteString(lastList)
      $0.integer(reason.rawValue)
      $0.optional(recoveryKey) { $0.byteString($1) }
    }
  }

  /// The row in which it is kept.
  package var row: SuccessionRow {
    SuccessionRow(
      epoch: epoch,
      record: Data(
        body
          + FieldWriter.fields {
            $0.byteString(oldSignature)
            $0.byteString(newSignature)
            $0.optional(recoverySignature) { $0.byteString($1) }
          }))
  }

  /// Whether holders of the old and of the new key signed it.
  package var isSignedByBothKeys: Bool {
    let body = body
    return Signing.isRight(oldSignature, of: body, label: Self.label, publicKey: oldKey)
      && Signing.isRight(newSignature, of: body, label: Self.label, publicKey: newKey)
  }

  /// Whether somebody who trusts the old key can trust the new one.
  ///
  /// An administrator who left knows the old key. So a recovery code that is itself trusted must
  /// have signed as well.
  package func canBeFollowed(trustingRecovery recovery: Data?) -> Bool {
    guard isSignedByBothKeys, let recovery, recovery == recoveryKey, let recoverySignature else {
      return false
    }
    return Signing.isRight(
      recoverySignature, of: body, label: Self.label, publicKey: recovery)
  }

  /// Whether a slot that was made under an administration key can give keys under the head's.
  ///
  /// Whoever knows the public key of a slot can seal any key to it. What opens the slot names the
  /// administration key under which it was made.
  package static func lead(
    from made: Data, in rows: [SuccessionRow], to head: HeadRow
  ) throws(KeychainError) -> Bool {
    if made == head.administration { return true }
    return try lead(from: { $0 == made }, in: rows, to: head, following: \.isSignedByBothKeys)
  }

  /// Whether successions that can be followed lead from a trusted administration key to the head's.
  package static func lead(
    from isTrusted: (Data) -> Bool, in rows: [SuccessionRow], to head: HeadRow,
    trustingRecovery recovery: Data?
  ) throws(KeychainError) -> Bool {
    try lead(from: isTrusted, in: rows, to: head) {
      $0.canBeFollowed(trustingRecovery: recovery)
    }
  }

  private static func lead(
    from isTrusted: (Data) -> Bool, in rows: [SuccessionRow], to head: HeadRow,
    following isFollowed: (Succession) -> Bool
  ) throws(KeychainError) -> Bool {
    var reached = false
    for row in rows {
      let succession = try Succession(row, of: head.id)
      guard reached || isTrusted(succession.oldKey) else { continue }
      guard isFollowed(succession) else {
        reached = false
        continue
      }
      reached = true
      if succession.newKey == head.administration { return true }
    }
    return false
  }
}
