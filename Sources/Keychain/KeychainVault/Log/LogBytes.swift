internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import Synchronization

/// The log of a file, read in pieces.
struct LogBytes {
  private let file: any DiskFile
  private let path: String
  let end: Int
  private var piece = Data()
  private var start: Int
  private static let pieceCount = 64 << 10

  init(_ file: any DiskFile, _ path: String, from start: Int, to end: Int) {
    self.file = file
    self.path = path
    self.start = start
    self.end = end
  }

  /// Returns `nil` beyond the end.
  private mutating func bytes(_ range: Range<Int>) throws(KeychainError) -> Data? {
    guard range.upperBound <= end else { return nil }
    if range.lowerBound < start || range.upperBound > start + piece.count {
      let wanted = max(range.count, min(Self.pieceCount, end - range.lowerBound))
      piece = try file.read(range.lowerBound..<range.lowerBound + wanted, of: path)
      start = range.lowerBound
      guard piece.count >= range.count else { return nil }
    }
    let offset = piece.startIndex + range.lowerBound - start
    return piece[offset..<offset + range.count]
  }

  /// The header with its mac at a place, whether its frame lies in the file or not.
  mutating func header(
    at place: Int, _ numbers: ClosedRange<UInt64>, _ head: VaultHead, _ keys: TierKeys
  ) throws(KeychainError) -> FrameHeader? {
    guard let bytes = try bytes(place..<place + FrameHeader.count) else { return nil }
    return FrameHeader(bytes.bytes, at: 0, epoch: head.epoch, open: keys.open, numbers: numbers)
  }

  /// The frame that begins at a place.
  mutating func frame(
    at place: Int, _ numbers: ClosedRange<UInt64>, _ head: VaultHead, _ keys: TierKeys
  ) throws(KeychainError) -> VaultContents.LastFrame? {
    guard let header = try header(at: place, numbers, head, keys),
      place + header.totalCount <= end,
      let beginning = try bytes(place..<place + VaultContents.LastFrame.beginningCount)
    else { return nil }
    return VaultContents.LastFrame(place: place, header: header, beginning: Data(beginning))
  }

  mutating func commit(
    of frame: VaultContents.LastFrame, _ keys: TierKeys
  ) throws(KeychainError) -> Commit? {
    let box = frame.frame.lowerBound + FrameHeader.count..<frame.frame.upperBound
    guard let bytes = try bytes(box) else { return nil }
    let commit = try Commit.open(Data(bytes), n: frame.header.n, keys: keys)
    guard let commit, let changes = commit.changes else { return commit }
    return changes.boxesCount == frame.header.boxesCount ? commit : nil
  }

  /// The next place where a header of one of these numbers may be; its mac is for the caller to compare.
  mutating func nextHeader(
    in numbers: ClosedRange<UInt64>, from place: Int
  ) throws(KeychainError) -> Int? {
    var place = place
    while place + FrameHeader.count <= end {
      // What is at hand is not read again: others decide how many places look like a header.
      let held = place >= start ? start + piece.count - place : 0
      let count = held >= FrameHeader.count ? held : min(Self.pieceCount, end - place)
      guard let found = try bytes(place..<place + count) else { return nil }
      if let offset = FrameHeader.firstOffset(in: found.bytes, numbers) { return place + offset }
      place += count - FrameHeader.count + 1
    }
    return nil
  }
}

/// The digests before the base, which are read when they are asked for.
final class SpineCache: Sendable {
  struct Known: Sendable {
    let spine: Spine
    /// Of the numbers from `spine.m` on.
    let digests: [Data]

    /// Returns `nil` outside of the spine.
    func digest(_ n: UInt64) -> Data? {
      guard n >= spine.m, n - spine.m < UInt64(digests.count) else { return nil }
      return digests[Int(n - spine.m)]
    }
  }

  private let known = Mutex<Known?>(nil)

  func known(_ contents: VaultContents, _ keys: TierKeys) throws(KeychainError) -> Known {
    if let known = known.withLock({ $0 }) { return known }
    let lengths = contents.head.lengths
    let box = try contents.read(lengths.spineRange)
    guard try Derivation.hash(box, count: 32) == contents.index.spineHash,
      let spine = try Spine.open(box, before: contents.base.n, of: contents.head.id, keys: keys)
    else { throw .damagedVault(contents.path, "its spine is not the one of its base") }
    let digests = try spine.digests()
    guard digests.last == contents.base.previous else {
      throw .damagedVault(contents.path, "its spine does not lead to its base")
    }
    let (list, known) = (contents.list, Known(spine: spine, digests: digests))
    if list.first > spine.m, known.digest(list.first - 1) != list.before {
      throw .damagedVault(
        contents.path, "its history is not the one that its list of members names")
    }
    self.known.withLock { $0 = known }
    return known
  }
}

extension VaultContents {
  /// Whether a digest has this number in the history of the file; `nil` if the spine does not reach so far back.
  func has(_ digest: Data, at n: UInt64, _ keys: TierKeys) throws(KeychainError) -> Bool? {
    guard n <= newest.n else { return false }
    guard n < base.n else { return digests[Int(n - base.n)] == digest }
    return try spine.known(self, keys).digest(n).map { $0 == digest }
  }
}

/// How far the log has grown, and when it is time for a new base.
struct LogGrowth: Sendable {
  /// Bytes of frames and their boxes, without the secrets, and with them.
  private var sealed = 0
  private var whole = 0

  /// The same at the last commit of a writer that had all keys.
  private var last = (sealed: 0, whole: 0)

  mutating func add(_ header: FrameHeader, hasAllProofs: Bool) {
    sealed += header.frameCount
    whole += header.totalCount
    if hasAllProofs { last = (sealed, whole) }
  }

  /// Whether the log crosses a multiple of a limit, since the last writer that had all keys, with one more frame.
  func isDue(after header: FrameHeader, preceding: Int) -> Bool {
    let limit = (sealed: max(32 << 10, preceding / 64), whole: max(1 << 20, preceding))
    return (sealed + header.frameCount) / limit.sealed > last.sealed / limit.sealed
      || (whole + header.totalCount) / limit.whole > last.whole / limit.whole
  }
}
