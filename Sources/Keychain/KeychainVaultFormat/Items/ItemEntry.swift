package import FoundationEssentials
package import KeychainCredentials
internal import KeychainSecrets

/// What whoever has T0 knows of an item.
package struct ItemEntry: Hashable, Sendable {
  package let id: ItemID
  package let accessibility: Accessibility

  /// The id of the device to which the item is bound, 16 bytes; `nil` if it isn't.
  package let device: Data?

  /// Random at each write of the item.
  package let version: UInt64
  package let boxCount: Int
  package let boxHash: Data

  /// Names the service or server, for whoever knows it; see ``ItemSealing/service(_:)``.
  package let service: UInt64

  /// The numbers of bytes that the box of a secret can have.
  fileprivate static let boxCounts =
    Sealing.greatestBoxCount(
      limit: 0)...Sealing.greatestBoxCount(limit: Credential.maximumSecretCount)

  /// The number of bytes of the shortest encoded entry.
  static let minimumCount = ItemID.count + 1 + 1 + 8 + 4 + 32 + 8

  package var tier: Tier { Tier(accessibility.unlockRequirement) }

  /// Returns 63 random bits, not 0, for an item that is written: a counter, and with it an item key, would
  /// repeat after an item is removed and added again.
  package static func newVersion() -> UInt64 { .random(in: 1...(.max >> 1)) }

  package var count: Int { Self.minimumCount + (device?.count ?? 0) }
}

extension ItemEntry {
  /// Reads an entry, whose class must belong to the tier, with a device exactly if the class needs one.
  init(_ reader: inout FieldReader, _ bytes: RawSpan, tier: Tier) throws(FieldReader.Malformed) {
    id = try ItemID(&reader, bytes)
    accessibility = try reader.value(bytes)
    device = try reader.optionalData(bytes, count: 16)
    version = try reader.integer(bytes)
    boxCount = Int(try reader.integer(bytes, as: UInt32.self))
    boxHash = try reader.data(bytes, count: 32)
    service = try reader.integer(bytes)
    guard self.tier == tier, accessibility.isThisDeviceOnly == (device != nil),
      1...(.max >> 1) ~= version, Self.boxCounts ~= boxCount
    else { throw FieldReader.Malformed() }
  }

  func write(to writer: inout FieldWriter) {
    id.write(to: &writer)
    writer.integer(accessibility.rawValue)
    writer.optional(device) { $0.append($1) }
    writer.integer(version)
    writer.integer(UInt32(truncatingIfNeeded: boxCount))
    writer.append(boxHash)
    writer.integer(service)
  }
}

/// An item that was sealed, for a commit or a page.
package struct SealedItem: Sendable {
  package let entry: ItemEntry

  /// The metadata as the format encodes it; a part seals it with that of its other items.
  package let metadata: SharedSecret
  package let box: Data

  package init(entry: ItemEntry, metadata: SharedSecret, box: Data) {
    self.entry = entry
    self.metadata = metadata
    self.box = box
  }
}

/// The id of an item, a mac of its identity under T0; ids are ordered as their bytes.
package struct ItemID: Hashable, Comparable, Sendable {
  package static let count = 32

  // Big-endian, so that comparing numbers compares bytes.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  init(_ reader: inout FieldReader, _ bytes: RawSpan) throws(FieldReader.Malformed) {
    self.init(bytes, at: try reader.fixed(bytes, Self.count).lowerBound)
  }

  /// Reads the id at an offset, from which there are ``count`` bytes.
  init(_ bytes: RawSpan, at offset: Int) {
    func word(_ index: Int) -> UInt64 {
      bytes.littleEndian(at: offset + 8 * index, as: UInt64.self).byteSwapped
    }
    words = (word(0), word(1), word(2), word(3))
  }

  package var data: Data { Data(copying: FieldWriter.fields(capacity: Self.count, write(to:))) }

  /// The name, in errors, of an item whose metadata cannot be read.
  package var name: String { "item " + data.prefix(6).hexadecimal }

  func write(to writer: inout FieldWriter) {
    for word in [words.0, words.1, words.2, words.3] { writer.integer(word.byteSwapped) }
  }

  package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  package static func < (left: Self, right: Self) -> Bool { left.words < right.words }

  package func hash(into hasher: inout Hasher) {
    // Ids are macs, so one word is as good as all.
    hasher.combine(words.0)
  }
}

extension KeychainError {
  package static func damagedItem(_ name: String) -> Self {
    Self(
      .damaged, "\(name) is damaged or was changed outside the vault",
      recovery: "see all problems with \(.verify), and restore the item from a backup")
  }

  package static func otherDevice(_ name: String) -> Self {
    Self(
      .otherDevice, "\(name) is bound to another device",
      recovery: "read it on the machine that stored it, or copy that machine's device.key; "
        + "if that is gone for good, \(.rekey) deletes what only it could read")
  }

  package static func locked(_ name: String) -> Self {
    Self(.locked, "the vault is locked for \(name)", recovery: .unlockOrGivePassphrase)
  }
}
