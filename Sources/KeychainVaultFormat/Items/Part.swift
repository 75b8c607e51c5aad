package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// What a commit changes in one tier, and what a page of the base has of it.
///
/// The outer half, the changes, is readable with T0; the inner half, the metadata, with the tier's
/// key.
package struct Part: Sendable {
  package enum Change: Hashable, Sendable {
    case remove(ItemID)
    case put(ItemEntry)

    package var id: ItemID {
      switch self {
      case .remove(let id): id
      case .put(let entry): entry.id
      }
    }

    /// The entry of the item that is put; `nil` for a removal.
    package var entry: ItemEntry? {
      if case .put(let entry) = self { entry } else { nil }
    }
  }

  package let tier: Tier

  /// The changes in the order of their ids, each id once.
  package let changes: [Change]

  /// The box of the metadata of all puts; empty if there are none.
  package let inner: Data

  /// A part without changes.
  package static func empty(_ tier: Tier) -> Part { Part(tier, changes: [], inner: Data()) }

  private init(_ tier: Tier, changes: [Change], inner: Data) {
    self.tier = tier
    self.changes = changes
    self.inner = inner
  }

  /// The entries of the items that are put, in their order.
  package var puts: [ItemEntry] { changes.compactMap(\.entry) }

  /// The number of bytes that the boxes of all secrets have together.
  package var boxesCount: Int { changes.reduce(0) { $0 + ($1.entry?.boxCount ?? 0) } }

  /// The number of bytes of the encoded part.
  package var count: Int {
    changes.reduce(4 + 4 + inner.count) { $0 + 1 + ($1.entry?.count ?? ItemID.count) }
  }
}

extension Part {
  /// Reads a part; the order, the classes and the devices must be right.
  package init(
    _ reader: inout FieldReader, _ bytes: RawSpan, tier: Tier
  ) throws(FieldReader.Malformed) {
    let count = try reader.count(bytes, ofSize: 1 + ItemID.count)
    var changes: [Change] = []
    changes.reserveCapacity(count)
    var hasPuts = false
    for _ in 0..<count {
      let change: Change
      switch try reader.integer(bytes, as: UInt8.self) {
      case 0: change = .remove(ItemID(bytes, at: try reader.fixed(bytes, ItemID.count).lowerBound))
      case 1:
        change = .put(try ItemEntry(&reader, bytes, tier: tier))
        hasPuts = true
      default: throw FieldReader.Malformed()
      }
      if let last = changes.last, last.id >= change.id { throw FieldReader.Malformed() }
      changes.append(change)
    }
    let inner = try reader.data(bytes)
    guard inner.isEmpty == !hasPuts else { throw FieldReader.Malformed() }
    self.init(tier, changes: changes, inner: inner)
  }

  package func write(to writer: inout FieldWriter) {
    writer.integer(UInt32(truncatingIfNeeded: changes.count))
    for change in changes {
      switch change {
      case .remove(let id):
        writer.integer(UInt8(0))
        id.write(to: &writer)
      case .put(let entry):
        writer.integer(UInt8(1))
        entry.write(to: &writer)
      }
    }
    writer.byteString(inner)
  }

  /// Makes a part of items and removals in any order, and seals the metadata.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if an item is put and the tier's
  ///   key is not at hand.
  package init(
    _ tier: Tier, puts: [SealedItem], removes: [ItemID], keys: TierKeys
  ) throws(KeychainError) {
    let puts = puts.sorted { $0.entry.id < $1.entry.id }
    let changes = (puts.map { .put($0.entry) } + removes.map { Change.remove($0) })
      .sorted { $0.id < $1.id }
    guard puts.allSatisfy({ $0.entry.tier == tier }),
      zip(changes, changes.dropFirst()).allSatisfy({ $0.id < $1.id })
    else {
      throw KeychainError(.internalFailure, "a change of a vault was made twice or misplaced")
    }
    guard let first = puts.first else {
      self.init(tier, changes: changes, inner: Data())
      return
    }
    guard let key = try keys.namesKey(tier) else { throw .locked(first.entry.id.name) }
    self.init(tier, changes: changes, inner: try PartMetadata.seal(puts.map(\.metadata), with: key))
  }

  /// Opens the metadata of the items that are put.
  ///
  /// - Returns: The metadata, or `nil` if the tier's key is not at hand.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/damaged`` if it does not open, or is of
  ///   another number of items.
  package func metadata(_ keys: TierKeys) throws(KeychainError) -> PartMetadata? {
    guard let key = try keys.namesKey(tier) else { return nil }
    let count = changes.count { $0.entry != nil }
    guard let metadata = try PartMetadata(inner, count: count, with: key) else {
      throw KeychainError(
        .damaged, "the names of \(count) items of the vault are damaged",
        recovery: .restoreBackup)
    }
    return metadata
  }
}

// Pages of the base.
extension Part {
  /// Opens a page.
  ///
  /// - Returns: The page, or `nil` if it does not open, breaks the format, is empty, or removes
  ///   something.
  package static func openPage(
    _ box: Data, tier: Tier, keys: TierKeys
  ) throws(KeychainError) -> Part? {
    guard let plain = try Sealing.openFields(box, with: keys.boxKey("pk3/page").bytes) else {
      return nil
    }
    return page(unsafe plain.span.bytes, tier: tier)
  }

  private static func page(_ bytes: RawSpan, tier: Tier) -> Part? {
    var reader = FieldReader()
    guard let part = try? Part(&reader, bytes, tier: tier), (try? reader.end(bytes)) != nil,
      !part.changes.isEmpty, part.changes.allSatisfy({ $0.entry != nil })
    else { return nil }
    return part
  }

  /// Seals the part as a page, which must have at most 1 MiB.
  package func sealedPage(keys: TierKeys) throws(KeychainError) -> Data {
    try Sealing.seal(
      fields: FieldWriter.fields(capacity: count, write(to:)),
      with: keys.boxKey("pk3/page").bytes)
  }
}
