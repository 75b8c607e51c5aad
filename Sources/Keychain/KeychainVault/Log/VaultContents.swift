internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem

/// The contents of a vault's file up to its last good commit, verified with T0; pages are read on
/// demand.
struct VaultContents: Sendable {
  private let verified: VerifiedBase
  var path: String { verified.path }
  var file: any DiskFile { verified.file }
  var head: VaultHead { verified.head }
  var list: MemberList { verified.list }
  var index: VaultIndex { verified.index }
  var base: Commit { verified.commit }
  var pages: PageCache { verified.pages }
  var spine: SpineCache { verified.spine }

  /// The body hashes of the log's commits, beginning with the base: number `base.n + i`.
  private(set) var bodyHashes: [Data]
  private(set) var digests: [Data]

  /// The items in the log, or in a running transaction, by tier.
  private(set) var logged: [[ItemID: Logged]] = [[:], [:], [:]]

  /// The newest proof of each tier, and the newest commit that changed it.
  private(set) var proofs: [Proof]

  /// The keys under which the proofs were checked, so that this happens once.
  var provedKeys: TierKeysIdentity?

  /// The end of the last good frame and its boxes.
  private(set) var end: Int
  private(set) var lastFrame: LastFrame
  private(set) var growth = LogGrowth()

  /// Whether an unfinished write follows the last good frame.
  var hasUnfinishedWrite = false

  /// Whether the log is damaged after the last good commit.
  var isCutOff = false

  /// Limits the work on commits and pages, whose number the file's writers decide.
  var deadline: Deadline?

  struct Logged: Sendable {
    /// The number of the commit; 0 in a running transaction.
    let n: UInt64
    /// The item; `nil` if it is removed.
    let item: VaultItem?
  }

  struct Proof: Sendable {
    var n: UInt64
    var digest: Data
    var mac: Data?
    var lastChange: UInt64 = 0
  }

  /// The place of the last frame, and what a handle compares: its header and the nonce of its box.
  struct LastFrame: Sendable {
    let place: Int
    let header: FrameHeader
    let beginning: Data

    static let beginningCount = FrameHeader.count + 24
    var frame: Range<Int> { place..<place + header.frameCount }
    var boxes: Range<Int> { frame.upperBound..<place + header.totalCount }
  }

  /// Reads and verifies a file from its base on, with its proofs under the available keys.
  ///
  /// A given list is already verified.
  ///
  /// If it is lenient, damage after the last good commit is noted instead of an error.
  init(
    reading file: any DiskFile, size: Int, path: String, head: VaultHead, list: MemberList? = nil,
    keys: TierKeys, seen: SeenRecord? = nil, isLenient: Bool = false, deadline: Deadline? = nil
  ) throws(KeychainError) {
    var log = LogBytes(file, path, from: head.lengths.log, to: size)
    verified = try VerifiedBase(file, path, head, list, reading: &log, keys)
    let (list, base, frame) = (verified.list, verified.commit, verified.frame)
    self.deadline = deadline
    bodyHashes = [base.bodyHash]
    digests = [base.digest]
    proofs = base.proofs.macs.map { Proof(n: base.n, digest: base.digest, mac: $0) }
    lastFrame = frame
    end = frame.place + frame.header.totalCount
    do throws(KeychainError) {
      try readLog(&log, keys, seen, from: base)
    } catch {
      guard isLenient, error.code == .damaged, error.underlying == nil,
        list.vaultKind == .local || base.isSigned(in: list)
      else { throw error }
      isCutOff = true
    }
    try requireProofs(keys)
  }

  /// The number and digest of the newest commit.
  var newest: (n: UInt64, digest: Data) {
    (base.n + UInt64(digests.count - 1), digests[digests.count - 1])
  }

  /// Whether the log contains only the base.
  var isBaseAlone: Bool { digests.count == 1 }

  /// Whether a tier may have items.
  func hasItems(in tier: Tier) -> Bool { !index.pages[tier].isEmpty || !logged[tier].isEmpty }

  func read(_ range: Range<Int>) throws(KeychainError) -> Data { try file.read(range, of: path) }

  /// Calls `body` with the bytes of a range, a MiB at a time.
  func forEachPiece(
    of range: Range<Int>, _ body: (Data) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 1 << 20) {
      let piece = start..<min(start + (1 << 20), range.upperBound)
      let bytes = try read(piece)
      guard bytes.count == piece.count else { throw .damagedVault(path, "it became shorter") }
      try body(bytes)
    }
  }
}

/// The contents of a file up to its first commit, which a growing log does not change.
///
/// It is a class because ``VaultContents`` is copied often, and the compiler takes long for large
/// noncopyable structs that contain two of them, such as ``VaultWriter``.
private final class VerifiedBase: Sendable {
  let path: String
  let file: any DiskFile
  let head: VaultHead
  let list: MemberList
  let listHash: Data
  let index: VaultIndex
  let commit: Commit
  let frame: VaultContents.LastFrame
  let pages = PageCache()
  let spine = SpineCache()

  /// Reads the first commit of a log, and verifies everything that it names; a given list is
  /// already verified.
  init(
    _ file: any DiskFile, _ path: String, _ head: VaultHead, _ list: MemberList?,
    reading log: inout LogBytes, _ keys: TierKeys
  ) throws(KeychainError) {
    let list = if let list { list } else { try head.openList(keys.open) }
    guard let frame = try log.frame(at: head.lengths.log, list.numbers, head, keys),
      let base = try log.commit(of: frame, keys), let named = base.base,
      frame.header.boxesCount == 0, base.hasExpectedProofs(in: list)
    else { throw .damagedVault(path, "its base does not open") }
    guard named.headHash == (try head.hash()), named.serial == list.serial,
      base.n > list.first || base.previous == list.before
    else { throw .damagedVault(path, "its base belongs to another head") }
    guard base.n > list.first || base.isSignedByAdministration(head.administration) else {
      throw .damagedVault(path, "its base is not signed by the administration key")
    }
    let box = try file.read(head.lengths.indexRange, of: path)
    guard try Derivation.hash(box, count: 32) == named.indexHash,
      let index = try VaultIndex.open(
        box, keys: keys, file: head.lengths.head..<head.lengths.indexRange.lowerBound)
    else { throw .damagedVault(path, "its index is not the one of its base") }
    self.path = path
    self.file = file
    self.head = head
    self.list = list
    listHash = try list.hash()
    self.index = index
    self.commit = base
    self.frame = frame
  }
}

// MARK: - Reading

extension VaultContents {
  /// Returns the same file after it has grown; `nil` if its verified part has changed.
  func continued(
    on file: any DiskFile, size: Int, keys: TierKeys, seen: SeenRecord?
  ) throws(KeychainError) -> VaultContents? {
    guard size >= end,
      try file.read(
        lastFrame.place..<lastFrame.place + LastFrame.beginningCount, of: path)
        == lastFrame.beginning
    else { return nil }
    var log = LogBytes(file, path, from: end, to: size)
    var new = self
    try new.readLog(&log, keys, seen, from: nil)
    try new.requireProofs(keys)
    return new
  }

  /// Reads commits from the verified end on, and inspects what follows the last good one.
  private mutating func readLog(
    _ log: inout LogBytes, _ keys: TierKeys, _ seen: SeenRecord?, from base: Commit?
  ) throws(KeychainError) {
    let time = ReadingTime(deadline)
    var commits: [(commit: Commit, frame: LastFrame)] = []
    var (n, digest, place) = (newest.n, newest.digest, end)
    while n < list.numbers.upperBound,
      let frame = try log.frame(at: place, (n + 1)...(n + 1), head, keys),
      let commit = try log.commit(of: frame, keys), commit.previous == digest,
      commit.changes != nil, commit.hasExpectedProofs(in: list),
      try isProvedByWriter(commit, keys)
    {
      try time.require(path)
      commits.append((commit, frame))
      (n, digest, place) = (commit.n, commit.digest, frame.boxes.upperBound)
    }
    if list.vaultKind == .shared {
      let known = commits.lastIndex { $0.commit.isSeen(seen) }.map { $0 + 1 } ?? 0
      if known == 0, let base, !base.isSeen(seen), !base.isSigned(in: list) {
        throw .damagedVault(path, "no member that may write has signed its base")
      }
      let unsigned = commits[known...].firstIndex { !$0.commit.isSigned(in: list) }
      if let unsigned { commits.removeSubrange(unsigned...) }
    }
    // Its writer may have been killed before all of its boxes were written.
    if let last = commits.last, isAbove(seen, last.commit.n), let changes = last.commit.changes,
      try Derivation.hash(read(last.frame.boxes), count: 32) != changes.boxesHash
    {
      commits.removeLast()
    }
    for (commit, frame) in commits {
      try time.require(path)
      add(commit, frame)
    }
    hasUnfinishedWrite = end < log.end
    if hasUnfinishedWrite { try requireUnfinished(&log, keys, seen) }
  }

  /// Whether a commit has the proof that every writer of a local vault can make.
  private func isProvedByWriter(_ commit: Commit, _ keys: TierKeys) throws(KeychainError) -> Bool {
    guard list.vaultKind == .local else { return true }
    return try keys.hasProved(.open, commit.digest, by: commit.proofs.macs[Int(Tier.open.rawValue)])
  }

  /// Whether a commit is newer than the seen record.
  private func isAbove(_ seen: SeenRecord?, _ n: UInt64) -> Bool {
    guard let seen = seen?.proved[0] else { return true }
    return seen.isOlder(than: SeenCommit(serial: list.serial, n: n, digest: Data()))
  }

  /// Fails if what follows the last good frame can't be an unfinished write; see "Files" in
  /// VaultReaders.
  private func requireUnfinished(
    _ log: inout LogBytes, _ keys: TierKeys, _ seen: SeenRecord?
  ) throws(KeychainError) {
    let damage = KeychainError.damagedLog(
      path, "its commit \(newest.n + 1) is damaged, and later ones follow it")
    if let seen = seen?.proved[0], seen.serial == list.serial, seen.n > newest.n { throw damage }
    // The size of the longest frame with its boxes.
    guard log.end - end <= (34 << 20) + 4096 else {
      throw .damagedLog(path, "more follows its commit \(newest.n) than a commit has")
    }
    guard newest.n + 2 <= list.numbers.upperBound else { return }
    let later = newest.n + 2...list.numbers.upperBound
    var (place, likenesses) = (end, 0)
    while let found = try log.nextHeader(in: later, from: place) {
      likenesses += 1
      guard likenesses <= 1024 else {
        throw .damagedLog(path, "what follows its commit \(newest.n) is not what a writer leaves")
      }
      if try log.header(at: found, later, head, keys) != nil { throw damage }
      place = found + 1
    }
  }
}

/// The time for reading a file: until the deadline, but at least a second, because earlier steps
/// may have used all of it.
struct ReadingTime {
  private let deadlines: [Deadline]

  init(_ deadline: Deadline?, atLeast time: Duration = .seconds(1)) {
    deadlines = deadline.map { [$0, Deadline(after: time)] } ?? []
  }

  func require(_ path: String) throws(KeychainError) {
    guard !deadlines.isEmpty, deadlines.allSatisfy(\.hasPassed) else { return }
    throw KeychainError(
      .timedOut, "reading the vault took longer than the deadline: \(path)",
      recovery: "try again with a longer deadline")
  }
}

extension KeychainError {
  /// The error for damage after the last good commit; the part before it can be accepted as an
  /// older copy.
  fileprivate static func damagedLog(_ path: String, _ reason: String) -> Self {
    Self(
      .damaged, "the vault \(path) is damaged: \(reason)",
      recovery: "restore a backup, or accept what comes before the damage with \(.acceptRestored)")
  }
}

// MARK: - The log

extension VaultContents {
  /// Adds an opened commit after the newest one.
  mutating func add(_ commit: Commit, _ frame: LastFrame) {
    guard let changes = commit.changes else { return }
    var place = frame.boxes.lowerBound
    for part in changes.parts {
      guard !part.changes.isEmpty else { continue }
      let held = HeldPart(part, boxesAt: place)
      place = held.boxesEnd
      proofs[part.tier].lastChange = commit.n
      var put = 0
      for change in part.changes {
        switch change {
        case .remove(let id): logged[part.tier][id] = Logged(n: commit.n, item: nil)
        case .put(let entry):
          let item = VaultItem(entry: entry, source: .stored(held, put))
          logged[part.tier][entry.id] = Logged(n: commit.n, item: item)
          put += 1
        }
      }
    }
    for (tier, mac) in commit.proofs.macs.enumerated() {
      guard mac != nil || commit.proofs.writer != nil else { continue }
      (proofs[tier].n, proofs[tier].digest, proofs[tier].mac) = (commit.n, commit.digest, mac)
    }
    provedKeys = nil
    bodyHashes.append(commit.bodyHash)
    digests.append(commit.digest)
    lastFrame = frame
    end = frame.place + frame.header.totalCount
    growth.add(
      frame.header, hasAllProofs: commit.proofs.writer != nil || !commit.proofs.macs.contains(nil))
  }

  /// Replaces an item by its state in a transaction.
  mutating func lay(_ item: VaultItem?, over id: ItemID, in tier: Tier) {
    logged[tier][id] = Logged(n: 0, item: item)
  }

  /// Fails if a tier whose key is available has a wrong proof, or a change after its newest proof.
  mutating func requireProofs(_ keys: TierKeys) throws(KeychainError) {
    guard provedKeys !== keys.identity else { return }
    for tier in Tier.allCases {
      let proof = proofs[tier]
      if list.vaultKind == .local {
        guard keys.key(tier) != nil else { continue }
        guard try keys.hasProved(tier, proof.digest, by: proof.mac) else {
          throw .damagedVault(path, "a proof of its commit \(proof.n) is wrong")
        }
      }
      guard proof.lastChange <= proof.n else {
        throw .damagedVault(
          path, "its commit \(proof.lastChange) changed items whose key the writer did not have")
      }
    }
    provedKeys = keys.identity
  }

  /// Returns the seen record of these contents: the newest commits that are proven under these
  /// keys.
  func record(_ keys: TierKeys) -> SeenRecord {
    let proved: [SeenCommit?] = Tier.allCases.map { tier in
      guard keys.key(tier) != nil else { return nil }
      let isNewest = tier == .open || list.vaultKind == .shared
      let (n, digest) = isNewest ? newest : (proofs[tier].n, proofs[tier].digest)
      return SeenCommit(serial: list.serial, n: n, digest: digest)
    }
    return SeenRecord(list, hash: verified.listHash, proved: proved)
  }
}

extension Commit {
  /// Whether the seen record has the commit.
  fileprivate func isSeen(_ seen: SeenRecord?) -> Bool {
    seen?.proved.contains { $0?.n == n && $0?.digest == digest } ?? false
  }
}

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

  /// Returns bytes of the log; `nil` beyond its end.
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

  /// Returns the header at a place, if its mac is right; its frame may be longer than the file.
  mutating func header(
    at place: Int, _ numbers: ClosedRange<UInt64>, _ head: VaultHead, _ keys: TierKeys
  ) throws(KeychainError) -> FrameHeader? {
    guard let bytes = try bytes(place..<place + FrameHeader.count) else { return nil }
    return FrameHeader(bytes.bytes, at: 0, epoch: head.epoch, open: keys.open, numbers: numbers)
  }

  /// Returns the frame at a place.
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

  /// Returns the next place that may have a header of one of these numbers; the caller checks its
  /// mac.
  mutating func nextHeader(
    in numbers: ClosedRange<UInt64>, from place: Int
  ) throws(KeychainError) -> Int? {
    var place = place
    while place + FrameHeader.count <= end {
      // Bytes in memory are not read again: the file's writers decide how many places look like a
      // header.
      let held = place >= start ? start + piece.count - place : 0
      let count = held >= FrameHeader.count ? held : min(Self.pieceCount, end - place)
      guard let found = try bytes(place..<place + count) else { return nil }
      if let offset = FrameHeader.firstOffset(in: found.bytes, numbers) { return place + offset }
      place += count - FrameHeader.count + 1
    }
    return nil
  }
}

/// The digests before the base, read on demand.
final class SpineCache: Sendable {
  struct Known: Sendable {
    let spine: Spine
    /// The digests of the commits from `spine.m` on.
    let digests: [Data]

    /// The spine of the next base, after the commits of the log.
    func following(_ contents: VaultContents) throws(KeychainError) -> Known {
      let next = try spine.following(contents.bodyHashes)
      return Known(
        spine: next, digests: (digests + contents.digests).suffix(next.hashes.count + 1))
    }

    /// Returns the digest of a commit; `nil` outside of the spine.
    func digest(_ n: UInt64) -> Data? {
      guard n >= spine.m, n - spine.m < UInt64(digests.count) else { return nil }
      return digests[Int(n - spine.m)]
    }
  }

  private let known = PosixMutex<Known?>(nil)

  /// Keeps the spine that this process has written.
  func keep(_ written: Known) { known.withLock { $0 = written } }

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
  /// Whether the history of the file has a digest at a number; `nil` if the spine does not reach
  /// back that far.
  func has(_ digest: Data, at n: UInt64, _ keys: TierKeys) throws(KeychainError) -> Bool? {
    guard n <= newest.n else { return false }
    guard n < base.n else { return digests[Int(n - base.n)] == digest }
    return try spine.known(self, keys).digest(n).map { $0 == digest }
  }
}

/// The growth of the log, which decides when a new base is written.
struct LogGrowth: Sendable {
  /// The bytes of frames with commits, without and with the boxes of secrets.
  private var sealed = 0
  private var whole = 0

  /// The bytes at the last commit of a writer that had all keys.
  private var last = (sealed: 0, whole: 0)

  mutating func add(_ header: FrameHeader, hasAllProofs: Bool) {
    sealed += header.frameCount
    whole += header.totalCount
    if hasAllProofs { last = (sealed, whole) }
  }

  /// Whether one more frame takes the log across a multiple of a limit, for the first time since a
  /// writer that had all keys.
  func isDue(after header: FrameHeader, preceding: Int) -> Bool {
    let limit = (sealed: max(32 << 10, preceding / 64), whole: max(1 << 20, preceding))
    return (sealed + header.frameCount) / limit.sealed > last.sealed / limit.sealed
      || (whole + header.totalCount) / limit.whole > last.whole / limit.whole
  }
}
