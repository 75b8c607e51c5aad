package import FoundationEssentials
package import KeychainCredentials
internal import KeychainSecrets

/// The changes of a commit in one tier, or the items of a page of the base.
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
    package var entry: ItemEntry? { if case .put(let entry) = self { entry } else { nil } }
  }

  package let tier: Tier

  /// The changes in the order of their ids, each id once.
  package let changes: [Change]

  /// The box of the metadata of all puts; empty if there are none.
  package let inner: Data

  package static func empty(_ tier: Tier) -> Part { Part(tier, changes: [], inner: Data()) }

  private init(_ tier: Tier, changes: [Change], inner: Data) {
    self.tier = tier
    self.changes = changes
    self.inner = inner
  }

  /// The entries of the puts, in their order.
  package var puts: [ItemEntry] { changes.compactMap(\.entry) }

  /// The number of bytes of all secrets' boxes.
  package var boxesCount: Int { changes.reduce(0) { $0 + ($1.entry?.boxCount ?? 0) } }

  package var count: Int {
    changes.reduce(4 + 4 + inner.count) { $0 + 1 + ($1.entry?.count ?? ItemID.count) }
  }
}

extension Part {
  /// Reads a part, and checks the order, the classes and the devices.
  package init(
    _ reader: inout FieldReader, _ bytes: RawSpan, tier: Tier
  ) throws(FieldReader.Malformed) {
    let changes = try reader.list(bytes, ofSize: 1 + ItemID.count) {
      reader, bytes throws(FieldReader.Malformed) -> Change in
      switch try reader.integer(bytes, as: UInt8.self) {
      case 0: .remove(try ItemID(&reader, bytes))
      case 1: .put(try ItemEntry(&reader, bytes, tier: tier))
      default: throw FieldReader.Malformed()
      }
    }
    let inner = try reader.data(bytes)
    guard changes.areInOrder, inner.isEmpty == changes.allSatisfy({ $0.entry == nil }) else {
      throw FieldReader.Malformed()
    }
    self.init(tier, changes: changes, inner: inner)
  }

  package func write(to writer: inout FieldWriter) {
    writer.list(changes) { writer, change in
      writer.integer(UInt8(change.entry == nil ? 0 : 1))
      switch change {
      case .remove(let id): id.write(to: &writer)
      case .put(let entry): entry.write(to: &writer)
      }
    }
    writer.byteString(inner)
  }

  /// Creates a part of items and removals in any order, and seals the metadata.
  package init(
    _ tier: Tier, puts: [SealedItem], removes: [ItemID], keys: TierKeys
  ) throws(KeychainError) {
    let puts = puts.sorted { $0.entry.id < $1.entry.id }
    let changes = (puts.map { .put($0.entry) } + removes.map { Change.remove($0) })
      .sorted { $0.id < $1.id }
    guard puts.allSatisfy({ $0.entry.tier == tier }), changes.areInOrder else {
      throw KeychainError(.internalFailure, "a change of a vault was made twice or misplaced")
    }
    guard let first = puts.first else {
      self.init(tier, changes: changes, inner: Data())
      return
    }
    guard let key = try keys.namesKey(tier) else { throw .locked(first.entry.id.name) }
    self.init(tier, changes: changes, inner: try PartMetadata.seal(puts.map(\.metadata), with: key))
  }

  /// Opens the metadata of the puts; `nil` if the tier's key is not available.
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

  /// Opens a page; `nil` if it does not open, breaks the format, is empty, or contains a removal.
  package static func openPage(
    _ box: Data, tier: Tier, keys: TierKeys
  ) throws(KeychainError) -> Part? {
    guard let plain = try Sealing.openFields(box, with: keys.boxKey("pk3/page").bytes) else {
      return nil
    }
    let bytes = unsafe plain.span.bytes
    var reader = FieldReader()
    guard let part = try? Part(&reader, bytes, tier: tier), (try? reader.end(bytes)) != nil,
      !part.changes.isEmpty, part.changes.allSatisfy({ $0.entry != nil })
    else { return nil }
    return part
  }

  /// Seals the part as a page of at most 1 MiB.
  package func sealedPage(keys: TierKeys) throws(KeychainError) -> Data {
    try Sealing.seal(
      fields: FieldWriter.fields(capacity: count, write(to:)),
      with: keys.boxKey("pk3/page").bytes)
  }
}

extension [Part.Change] {
  /// Whether the ids rise, so that each occurs once.
  fileprivate var areInOrder: Bool { zip(self, dropFirst()).allSatisfy { $0.id < $1.id } }
}

/// The metadata of a part's puts, in ordinary memory: its readers make strings of it anyway, and
/// guarded memory would take most of the time of a search.
package final class PartMetadata: Sendable {
  private let bytes: [UInt8]
  private let ranges: [Range<Int>]

  /// No commit or page is longer, so no part has more metadata.
  private static let maximumCount = 1 << 20

  /// Opens the inner half of a part; `nil` if it does not open, or does not have `count` items.
  init?(_ inner: Data, count: Int, with key: SharedSecret) throws(KeychainError) {
    guard count > 0 else {
      guard inner.isEmpty else { return nil }
      (bytes, ranges) = ([], [])
      return
    }
    guard inner.count <= Sealing.greatestBoxCount(limit: Self.maximumCount),
      let plain = try Sealing.openFields(inner, with: key.bytes),
      let ranges = try? Self.ranges(unsafe plain.span.bytes, count: count)
    else { return nil }
    bytes = plain
    self.ranges = ranges
  }

  package init(_ metadata: [UInt8]) {
    bytes = metadata
    ranges = [0..<bytes.count]
  }

  private static func ranges(
    _ padded: RawSpan, count: Int
  ) throws(FieldReader.Malformed) -> [Range<Int>] {
    guard let content = Padding.range(in: padded) else { throw FieldReader.Malformed() }
    // The ranges refer to the padded text.
    let bytes = padded.extracting(0..<content.upperBound)
    var reader = FieldReader()
    _ = try reader.fixed(bytes, content.lowerBound)
    var ranges: [Range<Int>] = []
    for _ in 0..<count { ranges.append(try reader.range(bytes)) }
    try reader.end(bytes)
    return ranges
  }

  static func seal(
    _ metadata: [[UInt8]], with key: SharedSecret
  ) throws(KeychainError) -> Data {
    let fields = FieldWriter.fields(capacity: 256 * metadata.count) { writer in
      for item in metadata { writer.byteString(item) }
    }
    return try Sealing.seal(fields: Sealing.padded(fields: fields), with: key.bytes)
  }

  /// Returns the metadata of the put with a number from 0, to be sealed again unchanged.
  package func copy(at index: Int) -> [UInt8] { Array(bytes[range(index)]) }

  /// Returns the credential of the put with a number from 0; `nil` if its metadata breaks the
  /// format.
  package func credential(at index: Int, of entry: ItemEntry) -> Credential? {
    let range = range(index)
    guard range.count <= MetadataCoding.maximumCount else { return nil }
    let bytes = bytes
    let plain = unsafe bytes.span.bytes
    var credential = try? MetadataCoding.decode(plain.extracting(range), entry.accessibility)
    credential?.version = entry.version
    return credential
  }

  /// Returns an empty range, which does not decode, if no put has the number.
  private func range(_ index: Int) -> Range<Int> {
    ranges.indices.contains(index) ? ranges[index] : 0..<0
  }
}
