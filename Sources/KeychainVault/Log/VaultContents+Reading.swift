internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension VaultHead {
  /// Reads the head of a file; nothing in it is proven yet.
  ///
  /// - Throws: ``KeychainError/Code/damaged``, ``KeychainError/Code/unsupportedFormat`` for another format.
  init(_ file: any DiskFile, size: Int, path: String) throws(KeychainError) {
    let prefix = try file.read(0..<min(size, Self.prefixCount), of: path)
    let lengths = try Self.lengths(prefix: prefix, fileLength: size, path: path)
    try self.init(file.read(0..<lengths.head, of: path), path: path)
  }
}

extension VaultContents {
  /// Reads and verifies a file from its base on, with its proofs under the keys at hand; the list was verified.
  ///
  /// If it is lenient, damage behind the last good commit is no error, but noted.
  init(
    reading file: any DiskFile, size: Int, path: String, head: VaultHead, list: MemberList,
    keys: TierKeys, seen: SeenRecord?, isLenient: Bool = false
  ) throws(KeychainError) {
    var log = LogBytes(file, path, from: head.lengths.log, to: size)
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
    self.init(
      path: path, file: file, head: head, list: list, index: index, base: base, frame: frame)
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

  /// The same file, after it has grown.
  ///
  /// - Returns: `nil` if it is not what was verified any more, so that it is read anew.
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

  /// Reads commits from the end that was verified, and looks at what follows the last good one.
  private mutating func readLog(
    _ log: inout LogBytes, _ keys: TierKeys, _ seen: SeenRecord?, from base: Commit?
  ) throws(KeychainError) {
    var commits: [(commit: Commit, frame: LastFrame)] = []
    var (n, digest, place) = (newest.n, newest.digest, end)
    while n < list.numbers.upperBound,
      let frame = try log.frame(at: place, (n + 1)...(n + 1), head, keys),
      let commit = try log.commit(of: frame, keys), commit.previous == digest,
      commit.changes != nil, commit.hasExpectedProofs(in: list)
    {
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
    // Its writer may have been killed before its boxes were written whole.
    if let last = commits.last, isAbove(seen, last.commit.n), let changes = last.commit.changes,
      try Derivation.hash(read(last.frame.boxes), count: 32) != changes.boxesHash
    {
      commits.removeLast()
    }
    for (commit, frame) in commits { add(commit, frame) }
    hasUnfinishedWrite = end < log.end
    if hasUnfinishedWrite { try requireUnfinished(&log, keys, seen) }
  }

  /// Whether a commit is newer than what this user has seen.
  private func isAbove(_ seen: SeenRecord?, _ n: UInt64) -> Bool {
    guard let seen = seen?.proved[0] else { return true }
    return seen.isOlder(than: SeenCommit(serial: list.serial, n: n, digest: Data()))
  }

  /// The longest frame with its boxes.
  private static let greatestFrameCount = (34 << 20) + 4096

  /// Of places that look like a header but for the mac.
  private static let greatestLikenessCount = 1024

  /// Fails if what follows the last good frame can't be an unfinished write; see "Files" of the format.
  private func requireUnfinished(
    _ log: inout LogBytes, _ keys: TierKeys, _ seen: SeenRecord?
  ) throws(KeychainError) {
    let damage = KeychainError.damagedVault(
      path, "its commit \(newest.n + 1) is damaged, and later ones follow it")
    if let seen = seen?.proved[0], seen.serial == list.serial, seen.n > newest.n { throw damage }
    guard log.end - end <= Self.greatestFrameCount else {
      throw .damagedVault(path, "more follows its commit \(newest.n) than a commit has")
    }
    guard newest.n + 2 <= list.numbers.upperBound else { return }
    let later = newest.n + 2...list.numbers.upperBound
    var (place, likenesses) = (end, 0)
    while let found = try log.nextHeader(in: later, from: place) {
      likenesses += 1
      guard likenesses <= Self.greatestLikenessCount else {
        throw .damagedVault(path, "what follows its commit \(newest.n) is not what a writer leaves")
      }
      if try log.frame(at: found, later, head, keys, mustFit: false) != nil { throw damage }
      place = found + 1
    }
  }
}

extension Commit {
  /// Whether the seen record has it.
  fileprivate func isSeen(_ seen: SeenRecord?) -> Bool {
    seen?.proved.contains { $0?.n == n && $0?.digest == digest } ?? false
  }
}

/// The log of a file, read in pieces.
private struct LogBytes {
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

  /// - Returns: `nil` beyond the end.
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

  /// The frame that begins at a place.
  ///
  /// Unless it must fit, one counts whose end is beyond that of the file.
  mutating func frame(
    at place: Int, _ numbers: ClosedRange<UInt64>, _ head: VaultHead, _ keys: TierKeys,
    mustFit: Bool = true
  ) throws(KeychainError) -> VaultContents.LastFrame? {
    guard let bytes = try bytes(place..<place + FrameHeader.count),
      let header = FrameHeader(
        bytes.bytes, at: 0, epoch: head.epoch, open: keys.open, numbers: numbers)
    else { return nil }
    guard mustFit else {
      return VaultContents.LastFrame(place: place, header: header, beginning: Data(bytes))
    }
    guard place + header.totalCount <= end,
      let beginning = try self.bytes(place..<place + VaultContents.LastFrame.beginningCount)
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
