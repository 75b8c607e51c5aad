import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultFormat
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// Who holds lower keys writes the file: drops, cuts, splices and adds commits, seals them again, and
/// puts older heads and bases under them.
///
/// For items whose key the attacker lacks, they can cut the history at one point, where nothing was
/// seen, and nothing else.
@Suite("Files of holders of lower keys", .timeLimit(.minutes(14)))
struct TierModelTests {
  enum Attacker: CaseIterable {
    case open, first
    /// Makes up the keys that it lacks.
    case openWithOthers, firstWithOthers

    var lacksFirst: Bool { self == .open || self == .openWithOthers }

    /// The items that it must not change.
    var others: Set<String> { lacksFirst ? ["t1", "t2"] : ["t2"] }
  }

  /// What the attacker adds at the end.
  enum Addition: CaseIterable {
    case nothing, removal, olderPart, planted
  }

  @Test(arguments: Attacker.allCases, [true, false])
  func nothingButACutIsPossible(_ attacker: Attacker, _ seen: Bool) throws {
    let sample = try SampleVault.filled(hasKeyFile: true)
    let fork = try Self.fork(of: sample)
    let keys = try Self.keys(sample)
    let log = try ForgedLog(sample.file, keys)
    let others = try ForgedLog(fork, keys)
    let older = try ForgedLog(sample.files[3], keys)
    var outcomes: [String: Int] = [:]
    var count = 0
    let forged = try keys.held(by: attacker)
    for (name, beginning, commits) in Self.histories(log, others, older) {
      for addition in Addition.allCases {
        for resealed in [true, false] {
          guard
            let file = try beginning.file(
              commits, addition, keys: forged, isResealed: resealed, item: sample)
          else { continue }
          count += 1
          guard count % Thoroughness.forgeryStep == 0 else { continue }
          try sample.replace(by: file, seen: seen)
          let view = sample.look()
          let states = seen ? [sample.state] : sample.states + [Self.forked(sample)]
          let violations = view.violations(states, only: attacker.others)
          let place = "\(name), \(addition), \(resealed ? "sealed again" : "as they were")"
          #expect(violations == [], "\(place): \(violations)")
          outcomes[view.outcome, default: 0] += 1
          // The victim's next change counts, or is refused.
          do {
            try sample.handle().put("t2", "mine", .whenUnlocked)
            #expect(try sample.handle().text("t2") == "mine", "\(place)")
          } catch let error as KeychainError {
            #expect([.damaged, .rolledBack].contains(error.code), "\(place): \(error)")
          }
        }
      }
    }
    print("forged by \(attacker), \(seen ? "seen" : "not seen") before: \(outcomes)")
  }

  /// The copy that was changed elsewhere, from before the last two changes.
  private static func fork(of sample: SampleVault) throws -> Data {
    var fork = sample
    try sample.replace(by: sample.files[sample.files.count - 3], seen: false)
    try fork.put("t2", "fork", .whenUnlocked)
    defer { try? sample.replace(by: sample.file, seen: true) }
    return fork.file
  }

  private static func forked(_ sample: SampleVault) -> [String: String] {
    var state = sample.states[sample.states.count - 3]
    state["t2"] = "fork"
    return state
  }

  private static func keys(_ sample: SampleVault) throws -> TierKeys {
    let session = try #require(try sample.handle().session())
    return try session.unlocker.keys(.unlockedNow, session.opened, session.deadline)
  }

  /// The histories that an attacker makes of the commits that it has: on which base, and which.
  private static func histories(
    _ log: ForgedLog, _ fork: ForgedLog, _ older: ForgedLog
  ) -> [(String, ForgedLog, [ForgedLog.Entry])] {
    var histories: [(String, ForgedLog, [ForgedLog.Entry])] = []
    let all = log.changes
    for count in 0...all.count {
      histories.append(("cut after \(count)", log, Array(all.prefix(count))))
    }
    for number in all.indices {
      var some = all
      some.remove(at: number)
      histories.append(("drop \(number)", log, some))
      some.insert(all[number], at: 0)
      histories.append(("\(number) first", log, some))
      histories.append(("\(number) twice", log, all + [all[number]]))
      histories.append(("fork after \(number)", log, all.prefix(number) + fork.changes))
      histories.append(("after the fork \(number)", fork, fork.changes + all.suffix(number)))
    }
    histories.append(("older base", older, all))
    histories.append(("older base and its log", older, older.changes + all))
    for (name, head) in [("older head", older.headBytes), ("head of the fork", fork.headBytes)] {
      var swapped = log
      swapped.headBytes = head
      histories.append((name, swapped, all))
    }
    var swapped = log
    swapped.baseFrame = older.baseFrame
    histories.append(("older base frame", swapped, all))
    return histories
  }
}

/// The log of a file that is put together anew.
private struct ForgedLog {
  struct Entry {
    let commit: Commit
    let frame: Data
    let boxes: Data
  }

  let head: VaultHead
  var headBytes: Data
  /// Pages, boxes, index and spine.
  let middle: Data
  var baseFrame: Data
  let base: Commit
  let changes: [Entry]

  init(_ file: Data, _ keys: TierKeys) throws {
    let file = Data(file)
    let lengths = try VaultHead.lengths(
      prefix: file.prefix(VaultHead.prefixCount), fileLength: file.count, path: "")
    headBytes = file.prefix(lengths.head)
    head = try VaultHead(headBytes, path: "")
    middle = file[lengths.head..<lengths.log]
    var entries: [Entry] = []
    var place = lengths.log
    while place < file.count {
      let found = FrameHeader(
        file.bytes, at: place, epoch: head.epoch, open: keys.open, numbers: 1...UInt64(1) << 40)
      let header = try #require(found)
      let frame = file[place..<place + header.frameCount]
      let commit = try #require(
        try Commit.open(Data(frame.dropFirst(FrameHeader.count)), n: header.n, keys: keys))
      let boxes = file[place + header.frameCount..<place + header.totalCount]
      entries.append(Entry(commit: commit, frame: Data(frame), boxes: Data(boxes)))
      place += header.totalCount
    }
    base = entries[0].commit
    baseFrame = entries[0].frame
    changes = Array(entries.dropFirst())
  }

  /// Returns a file with these commits, as they were or sealed again with other keys after each other.
  ///
  /// - Returns: `nil` if there is nothing to add.
  func file(
    _ entries: [Entry], _ addition: TierModelTests.Addition, keys: TierKeys, isResealed: Bool,
    item sample: SampleVault
  ) throws -> Data? {
    var file = headBytes + middle + baseFrame
    var (n, digest) = (base.n, base.digest)
    func append(_ changes: Commit.Changes, _ boxes: Data) throws {
      let (commit, box) = try Commit.seal(
        n: n + 1, previous: digest, time: 0, writer: 0, content: .changes(changes), keys: keys,
        signer: nil, administration: nil)
      let header = FrameHeader(n: n + 1, boxCount: box.count, boxesCount: boxes.count)
      file += try header.encoded(epoch: head.epoch, open: keys.open) + box + boxes
      (n, digest) = (commit.n, commit.digest)
    }
    for entry in entries {
      // Those that still follow stay, with their proofs.
      let follows = entry.commit.n == n + 1 && entry.commit.previous == digest
      if follows || !isResealed {
        file += entry.frame + entry.boxes
        (n, digest) = (entry.commit.n, entry.commit.digest)
      } else if let changes = entry.commit.changes {
        try append(changes, entry.boxes)
      }
    }
    let sealing = ItemSealing(keys: keys, device: nil)
    let id = try sealing.id(of: .test("t2"))
    switch addition {
    case .nothing: break
    case .removal:
      let part = try Part(.unlocked, puts: [], removes: [id], keys: keys)
      try append(
        Commit.Changes(
          boxesHash: Derivation.hash(Data(), count: 32),
          parts: [.empty(.open), .empty(.first), part]),
        Data())
    case .olderPart:
      let older = entries.first { !($0.commit.changes?.parts[2].changes.isEmpty ?? true) }
      guard let older, let changes = older.commit.changes else { return nil }
      try append(changes, older.boxes)
    case .planted:
      let item = try sealing.seal(
        Credential(.test("t2"), accessibility: .always), secret: SecretBytes(copying: "planted"))
      let part = try Part(.open, puts: [item], removes: [], keys: keys)
      try append(
        Commit.Changes(
          boxesHash: Derivation.hash(item.box, count: 32),
          parts: [part, .empty(.first), .empty(.unlocked)]), item.box)
    }
    return file
  }
}

extension TierKeys {
  fileprivate func held(by attacker: TierModelTests.Attacker) throws -> TierKeys {
    let madeUp = attacker == .openWithOthers || attacker == .firstWithOthers
    func lacking() throws -> SharedSecret? {
      madeUp ? SharedSecret(try SecretBytes(copying: String(repeating: "7", count: 32))) : nil
    }
    return TierKeys(
      binding: binding, checks: checks, open: open,
      first: attacker.lacksFirst ? try lacking() : first, unlocked: try lacking())
  }
}
