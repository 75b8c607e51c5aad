package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// The index of a base: where its pages lie, by tier and id, and what they are.
package struct VaultIndex: Sendable {
  package struct Page: Hashable, Sendable {
    /// The id of its first entry, and the number of its entries.
    package let first: ItemID
    package let count: Int

    /// Of the page's box.
    package let place: Int
    package let length: Int
    package let hash: Data

    /// The place of the boxes of the secrets, which lie together in the order of the entries.
    package let boxesPlace: Int

    package init(
      first: ItemID, count: Int, place: Int, length: Int, hash: Data, boxesPlace: Int
    ) {
      self.first = first
      self.count = count
      self.place = place
      self.length = length
      self.hash = hash
      self.boxesPlace = boxesPlace
    }

    static let encodedCount = ItemID.count + 4 + 8 + 4 + 32 + 8
  }

  /// The maximum number of bytes of an index's box.
  package static let maximumBoxCount = 64 << 20

  /// The maximum number of bytes of a page's box.
  package static let maximumPageCount = 1 << 20

  /// The pages of each tier, in the order of their ids.
  package let pages: [[Page]]

  /// The hash of the spine's box.
  package let spineHash: Data

  package init(pages: [[Page]], spineHash: Data) {
    self.pages = pages
    self.spineHash = spineHash
  }

  /// Opens an index, whose pages and boxes must lie in a range of the file; `nil` if it does not open
  /// or breaks the format.
  package static func open(
    _ box: Data, keys: TierKeys, file: Range<Int>
  ) throws(KeychainError) -> VaultIndex? {
    guard box.count <= maximumBoxCount,
      let plain = try Sealing.openFields(box, with: keys.boxKey("pk3/index").bytes)
    else { return nil }
    return try? VaultIndex(unsafe plain.span.bytes, file: file)
  }

  private init(_ bytes: RawSpan, file: Range<Int>) throws(FieldReader.Malformed) {
    var reader = FieldReader()
    spineHash = try reader.data(bytes, count: 32)
    var tiers: [[Page]] = []
    for _ in Tier.allCases {
      let pages = try reader.list(bytes, ofSize: Page.encodedCount) {
        reader, bytes throws(FieldReader.Malformed) in try Page(&reader, bytes)
      }
      guard pages.allSatisfy({ $0.lies(in: file) }),
        zip(pages, pages.dropFirst()).allSatisfy({ $0.first < $1.first })
      else { throw FieldReader.Malformed() }
      tiers.append(pages)
    }
    try reader.end(bytes)
    pages = tiers
  }

  package func sealed(keys: TierKeys) throws(KeychainError) -> Data {
    try Sealing.seal(fields: fields, with: keys.boxKey("pk3/index").bytes)
  }

  var fields: [UInt8] {
    FieldWriter.fields(capacity: 44 + pages.joined().count * Page.encodedCount) {
      $0.append(spineHash)
      for pages in pages { $0.list(pages) { $1.write(to: &$0) } }
    }
  }

  /// Whether a part is the page with a number: it begins with the page's first id, has as many
  /// entries, and ends before the next page.
  package func describes(_ part: Part, page number: Int) -> Bool {
    let pages = pages[part.tier]
    guard pages.indices.contains(number), let first = part.changes.first,
      let last = part.changes.last
    else { return false }
    return first.id == pages[number].first && part.changes.count == pages[number].count
      && (number + 1 == pages.count || last.id < pages[number + 1].first)
  }

  /// Returns the number of the page of a tier that has an id if any has; `nil` if none can.
  package func page(of id: ItemID, in tier: Tier) -> Int? {
    let pages = pages[tier]
    var range = pages.startIndex..<pages.endIndex
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if pages[middle].first <= id {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return range.lowerBound > pages.startIndex ? range.lowerBound - 1 : nil
  }
}

extension VaultIndex.Page {
  fileprivate init(
    _ reader: inout FieldReader, _ bytes: RawSpan
  ) throws(FieldReader.Malformed) {
    first = try ItemID(&reader, bytes)
    count = Int(try reader.integer(bytes, as: UInt32.self))
    place = Int(clamping: try reader.integer(bytes, as: UInt64.self))
    length = Int(try reader.integer(bytes, as: UInt32.self))
    hash = try reader.data(bytes, count: 32)
    boxesPlace = Int(clamping: try reader.integer(bytes, as: UInt64.self))
  }

  fileprivate func lies(in file: Range<Int>) -> Bool {
    count > 0 && length <= VaultIndex.maximumPageCount && place >= file.lowerBound
      && place <= file.upperBound && length <= file.upperBound - place
      && boxesPlace >= file.lowerBound && boxesPlace <= file.upperBound
  }

  fileprivate func write(to writer: inout FieldWriter) {
    first.write(to: &writer)
    writer.integer(UInt32(truncatingIfNeeded: count))
    writer.integer(UInt64(truncatingIfNeeded: place))
    writer.integer(UInt32(truncatingIfNeeded: length))
    writer.append(hash)
    writer.integer(UInt64(truncatingIfNeeded: boxesPlace))
  }
}
