internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import Synchronization

/// The pages that a handle read last.
final class PageCache: Sendable {
  private static let limit = 16
  private let kept = Mutex<[(page: VaultIndex.Page, held: HeldPart)]>([])

  func page(_ page: VaultIndex.Page, of tier: Tier) -> HeldPart? {
    kept.withLock { $0.first { $0.page == page && $0.held.part.tier == tier }?.held }
  }

  func keep(_ held: HeldPart, _ page: VaultIndex.Page) {
    kept.withLock { kept in
      if kept.count == Self.limit { kept.removeFirst() }
      kept.append((page, held))
    }
  }
}

/// The digests before the base, which are read when they are asked for.
final class SpineCache: Sendable {
  struct Known: Sendable {
    let spine: Spine
    /// Of the numbers from `spine.m` on.
    let digests: [Data]

    /// - Returns: `nil` outside of the spine.
    func digest(_ n: UInt64) -> Data? {
      guard n >= spine.m, n - spine.m < UInt64(digests.count) else { return nil }
      return digests[Int(n - spine.m)]
    }
  }

  private let known = Mutex<Known?>(nil)

  /// - Throws: ``KeychainError/Code/damaged`` if it is not the one of the base, or has another past than the list names.
  func known(_ contents: VaultContents, _ keys: TierKeys) throws(KeychainError) -> Known {
    if let known = known.withLock({ $0 }) { return known }
    let lengths = contents.head.lengths
    let box = try contents.read(lengths.spineRange)
    guard try Derivation.hash(box, count: 32) == contents.index.spineHash,
      let spine = try Spine.open(
        box, before: contents.base.n, of: contents.head.id, keys: keys)
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

  /// Whether the log crossed a multiple of a limit between the last writer that had all keys and one more frame.
  ///
  /// `preceding` is the number of bytes before the log.
  func isDue(after header: FrameHeader, preceding: Int) -> Bool {
    let limit = (sealed: max(32 << 10, preceding / 64), whole: max(1 << 20, preceding))
    return (sealed + header.frameCount) / limit.sealed > last.sealed / limit.sealed
      || (whole + header.totalCount) / limit.whole > last.whole / limit.whole
  }
}

/// What a log says of the items of one tier.
///
/// A write changes a copy of what its handle knows. So the newest changes lie by themselves, and the others are shared.
struct LoggedChanges: Sendable {
  private var settled: [ItemID: VaultContents.Logged] = [:]
  private var newest: [ItemID: VaultContents.Logged] = [:]

  private static let limit = 64
  var isEmpty: Bool { newest.isEmpty && settled.isEmpty }

  subscript(id: ItemID) -> VaultContents.Logged? { newest[id] ?? settled[id] }

  mutating func set(_ logged: VaultContents.Logged, for id: ItemID) {
    newest[id] = logged
    guard newest.count >= Self.limit else { return }
    settled.merge(newest) { $1 }
    newest = [:]
  }

  var all: [ItemID: VaultContents.Logged] {
    newest.isEmpty ? settled : settled.merging(newest) { $1 }
  }
}

/// Hashes of 32 bytes, one after the other: many are copied with every write, and this is one copy.
struct PackedHashes: Sendable {
  private var bytes: Data
  private static let size = 32

  init(_ first: Data) { bytes = first }

  var count: Int { bytes.count / Self.size }

  mutating func append(_ hash: Data) { bytes += hash }

  subscript(index: Int) -> Data {
    let start = bytes.startIndex + index * Self.size
    return Data(bytes[start..<start + Self.size])
  }
}
