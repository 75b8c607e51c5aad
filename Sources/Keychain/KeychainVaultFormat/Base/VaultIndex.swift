package import FoundationEssentials
package import KeychainCredentials
internal import KeychainSecrets

/// The index of a base: the places of its pages by tier and id, and their hashes.
package struct VaultIndex: Sendable {
  package struct Page: Hashable, Sendable {
    /// The id of its first entry, and the number of its entries.
    package let first: ItemID
    package let count: Int

    /// The place of the page's box.
    package let place: Int
    package let length: Int
    package let hash: Bytes32

    /// The place of the boxes of the secrets, which lie together in the order of the entries.
    package let boxesPlace: Int

    package init(first: ItemID, count: Int, place: Int, length: Int, hash: Bytes32, boxesPlace: Int)
    {
      self.first = first
      self.count = count
      self.place = place
      self.length = length
      self.hash = hash
      self.boxesPlace = boxesPlace
    }

    static let encodedCount = ItemID.count + 4 + 8 + 4 + 32 + 8
  }

  package static let maximumBoxCount = 64 << 20

  /// The maximum number of bytes of a page's box.
  package static let maximumPageCount = 1 << 20

  /// The pages of each tier, in the order of their ids.
  package let pages: [[Page]]
  package let spineHash: Data

  package init(pages: [[Page]], spineHash: Data) {
    self.pages = pages
    self.spineHash = spineHash
  }

  /// Opens an index; `nil` if it does not open, breaks the format, or if its pages and boxes lie
  /// outside of the range.
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
      let pages = try reader.list(bytes, ofSize: Page.encodedCount, Page.init)
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

  /// Whether a part is the page with this number.
  package func describes(_ part: Part, page number: Int) -> Bool {
    let pages = pages[part.tier]
    guard pages.indices.contains(number), let first = part.changes.first,
      let last = part.changes.last
    else { return false }
    return first.id == pages[number].first && part.changes.count == pages[number].count
      && (number + 1 == pages.count || last.id < pages[number + 1].first)
  }

  /// Returns the number of the page of a tier that may have an id; `nil` if no page can have it.
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
  fileprivate init(_ reader: inout FieldReader, _ bytes: RawSpan) throws(FieldReader.Malformed) {
    first = try ItemID(&reader, bytes)
    count = Int(try reader.integer(bytes, as: UInt32.self))
    place = Int(clamping: try reader.integer(bytes, as: UInt64.self))
    length = Int(try reader.integer(bytes, as: UInt32.self))
    hash = try Bytes32(&reader, bytes)
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
    hash.write(to: &writer)
    writer.integer(UInt64(truncatingIfNeeded: boxesPlace))
  }
}

/// The hashes of the last commits before a base, from which their digests are recomputed.
package struct Spine: Hashable, Sendable {
  /// The number of the commit before the first hash.
  package let m: UInt64
  package let digest: Data

  /// The body hashes of the commits after ``m``.
  package let hashes: [Data]

  /// The maximum number of hashes.
  package static let maximumCount = 1024
  package static let maximumBoxCount = SecretBox.overhead + 44 + 32 * maximumCount

  package static func first(_ id: VaultID) throws(KeychainError) -> Spine {
    Spine(m: 0, digest: try Commit.first(id), hashes: [])
  }

  /// Opens the spine of the base with a number; `nil` if it does not open, breaks the format, or
  /// does not have exactly the hashes that this base needs.
  package static func open(
    _ box: Data, before n: UInt64, of id: VaultID, keys: TierKeys
  ) throws(KeychainError) -> Spine? {
    guard box.count <= maximumBoxCount,
      let plain = try Sealing.openFields(box, with: keys.boxKey("pk3/spine").bytes),
      let spine = try? Spine(unsafe plain.span.bytes), n > 0,
      UInt64(spine.hashes.count) == min(n - 1, UInt64(maximumCount)),
      spine.m == n - 1 - UInt64(spine.hashes.count)
    else { return nil }
    let first = try Commit.first(id)
    return spine.m > 0 || spine.digest == first ? spine : nil
  }

  package func sealed(keys: TierKeys) throws(KeychainError) -> Data {
    try Sealing.seal(fields: fields, with: keys.boxKey("pk3/spine").bytes)
  }

  var fields: [UInt8] {
    FieldWriter.fields(capacity: 44 + 32 * hashes.count) {
      $0.integer(m)
      $0.append(digest)
      $0.list(hashes) { $0.append($1) }
    }
  }

  /// Returns the digests of the commits from ``m`` to the one before the base.
  package func digests() throws(KeychainError) -> [Data] {
    var digests = [digest]
    var last = digest
    for hash in hashes {
      last = try Commit.digest(after: last, bodyHash: hash)
      digests.append(last)
    }
    return digests
  }

  /// Returns the spine of a later base, which includes the old base.
  package func following(_ bodyHashes: [Data]) throws(KeychainError) -> Spine {
    let all = hashes + bodyHashes
    let dropped = max(0, all.count - Self.maximumCount)
    var digest = digest
    for hash in all.prefix(dropped) { digest = try Commit.digest(after: digest, bodyHash: hash) }
    return Spine(m: m + UInt64(dropped), digest: digest, hashes: Array(all.dropFirst(dropped)))
  }
}

extension Spine {
  private init(_ bytes: RawSpan) throws(FieldReader.Malformed) {
    var reader = FieldReader()
    m = try reader.integer(bytes)
    digest = try reader.data(bytes, count: 32)
    hashes = try reader.list(bytes, ofSize: 32) { reader, bytes throws(FieldReader.Malformed) in
      try reader.data(bytes, count: 32)
    }
    try reader.end(bytes)
  }
}
