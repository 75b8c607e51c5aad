package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The sealed row that shows whether rows were dropped or put back: a counter, the numbers of rows,
/// and the XOR of one keyed hash for each row.
package struct StateRow: Hashable, Sendable {
  package var counter: UInt64
  package var itemCount: UInt64
  package var slotCount: UInt32
  package var sum: Data

  package init(counter: UInt64, itemCount: UInt64, slotCount: UInt32, sum: Data) {
    self.counter = counter
    self.itemCount = itemCount
    self.slotCount = slotCount
    self.sum = sum
  }

  /// More changes than any vault has, so that nobody can forge a counter after which there is none.
  package static let maximumCounter: UInt64 = 1 << 48

  /// Returns the counter of the next transaction.
  package static func counter(after counter: UInt64) throws(KeychainError) -> UInt64 {
    guard counter < maximumCounter else {
      throw KeychainError(
        .damaged, "the counter of the vault is at its end", recovery: .restoreBackup)
    }
    return counter + 1
  }

  /// Returns the counter after a person has accepted a vault.
  ///
  /// If the two counters differ by more than is possible, one is forged, and only the greater one
  /// does harm.
  package static func counter(
    acceptingFile found: UInt64, seen: UInt64?
  ) throws(KeychainError) -> UInt64 {
    guard let seen else { return try counter(after: found) }
    let (lesser, greater) = (min(found, seen), max(found, seen))
    return try counter(after: greater - lesser > SeenRecord.largestStep ? lesser : greater)
  }

  private var isPossible: Bool {
    counter <= Self.maximumCounter && itemCount <= UInt64(Int64.max) && slotCount <= 32
  }

  package static let empty = Self(
    counter: 0, itemCount: 0, slotCount: 0, sum: Data(repeating: 0, count: 32))

  /// Adds a term to the sum or removes it: both are the same operation.
  package mutating func toggle(_ term: Data) {
    sum = Data(zip(sum, term).map { $0 ^ $1 })
  }

  package var fields: [UInt8] {
    FieldWriter.fields {
      $0.integer(counter)
      $0.integer(itemCount)
      $0.integer(slotCount)
      for byte in sum { $0.integer(byte) }
    }
  }

  package func sealed(under open: borrowing SecretBytes) throws(KeychainError) -> Data {
    let key = try Derivation.key(open, "pk1/state.box")
    do throws(SecretsError) {
      let plaintext = try unsafe SecretBytes(copying: fields.span.bytes)
      return Data(try SecretBox.seal(plaintext, with: key))
    } catch {
      throw KeychainError(error)
    }
  }

  package static func open(
    _ box: Data, under open: borrowing SecretBytes
  ) throws(KeychainError) -> StateRow {
    let key = try Derivation.key(open, "pk1/state.box")
    if let plaintext = try Sealing.open(box, with: key), plaintext.count == 52 {
      let state = plaintext.withBytes { Self($0) }
      if state.isPossible { return state }
    }
    throw KeychainError(
      .damaged, "the vault's state row is damaged",
      recovery:
        "restore a backup, or run \(.acceptRestored) if you know what happened")
  }
}

extension StateRow {
  fileprivate init(_ bytes: RawSpan) {
    self.init(
      counter: bytes.littleEndian(at: 0, as: UInt64.self),
      itemCount: bytes.littleEndian(at: 8, as: UInt64.self),
      slotCount: bytes.littleEndian(at: 16, as: UInt32.self),
      sum: Data(bytes.extracting(20..<52).array))
  }
}

extension StateRow {
  /// Compares the number of items found with the expected number.
  ///
  /// A damaged tree can end early without an error of SQLite.
  package func checkItemCount(_ found: Int) throws(KeychainError) {
    guard UInt64(found) == itemCount else {
      throw KeychainError(
        .damaged, "the vault has \(found) items and should have \(itemCount)",
        recovery: .verify)
    }
  }
}

/// Computes the terms of the state row.
package struct StateTerms: ~Copyable {
  private let key: SecretBytes

  package init(open: borrowing SecretBytes) throws(KeychainError) {
    key = try Derivation.key(open, "pk1/state.row")
  }

  package borrowing func term(of item: ItemRow, tokens: [Data]) throws(KeychainError) -> Data {
    let hashes = [
      try Derivation.hash(item.metadata, count: 32), try Derivation.hash(item.secret, count: 32),
    ]
    let fields = FieldWriter.fields {
      $0.byteString(item.id)
      $0.integer(item.accessibility.rawValue)
      $0.optional(item.device) { $0.byteString($1) }
      $0.integer(item.version)
      for hash in hashes { $0.byteString(hash) }
      $0.integer(UInt32(tokens.count))
      for token in tokens.sorted(by: { $0.lexicographicallyPrecedes($1) }) { $0.byteString(token) }
    }
    return try Derivation.tag(key, "item", fields)
  }

  package borrowing func term(of slot: SlotRow) throws(KeychainError) -> Data {
    try Derivation.tag(key, "slot", slot.fields)
  }

  package borrowing func term(of group: AccessGroupRow) throws(KeychainError) -> Data {
    let fields = FieldWriter.fields {
      $0.byteString(group.token)
      $0.integer(group.accessibility.rawValue)
      $0.byteString(group.box)
    }
    return try Derivation.tag(key, "group", fields)
  }

  package borrowing func term(of row: VaultRow) throws(KeychainError) -> Data {
    try Derivation.tag(key, "vault", row.fields)
  }
}
