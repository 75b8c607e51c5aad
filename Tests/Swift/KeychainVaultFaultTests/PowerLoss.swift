import FaultTesting
import Foundation
import Testing

/// How much of the order of writes a file system keeps.
enum DiskOrder: CaseIterable {
  /// Names and lengths change in their order, and new blocks are written before a length that has
  /// them: ext4 with a journal.
  case journal
  /// Everything else than what was synced may be there or not, and new blocks may have any bytes.
  case none
}

/// A disk after a power failure.
struct Crash {
  /// The disk as it is found.
  let state: DiskState
  /// What the test had recorded before; see ``ModelDisk/note(_:)``.
  let notes: [Int]
  /// The seen record as it is found.
  let record: Data?
  /// Where and how the power failed, for the message of a failure.
  let place: String

  /// The disk; it can be used, and its power can fail again.
  func disk(record: (@Sendable () -> Data?)? = nil) -> ModelDisk {
    ModelDisk(state, record: record)
  }
}

extension ModelDisk {
  /// Calls `check` with the disk as a power failure may leave it after each change that was made.
  ///
  /// - Parameters:
  ///   - seed: For the states that are chosen where there are too many. It is part of the place.
  ///   - limit: The number of states that are checked after one change: all of them, if they are not
  ///     more, or random ones.
  ///   - first: The number of the first change that counts.
  ///   - check: Throws, or records an issue, if a state is not right.
  /// - Returns: How many different states were checked.
  @discardableResult
  func forEachPowerLoss(
    seed: UInt64 = .random(in: 0...UInt64.max), limit: Int = Thoroughness.crashStates,
    from first: Int = 0, _ check: (Crash) throws -> Void
  ) rethrows -> Int {
    var random = SplitMix(state: seed)
    var checked: Set<Int> = []
    let calls = calls
    for (number, state) in states.enumerated() where number >= first {
      let notes = state.notes
      // The record may have changed since, before the next call, which looked at it.
      let hasNext = calls[number] != .note && number + 1 < calls.count
      let records = state.records + (hasNext ? states[number + 1].records : [])
      for order in DiskOrder.allCases {
        let loss = PowerLoss(state, order, records)
        for choice in loss.choices(limit, &random) {
          let place =
            "power failed after call \(number) (\(calls[number])), order \(order), "
            + "choice \(choice), seed \(seed)"
          let state = loss.state(choice, notes)
          guard checked.insert(state.fingerprint).inserted else { continue }
          try check(
            Crash(
              state: state, notes: notes, record: state.records.last ?? nil, place: place))
        }
      }
    }
    return checked.count
  }
}

/// The states that a power failure may leave: one for each combination of choices.
private struct PowerLoss {
  private enum Choice {
    case renames(prefix: Bool)
    case size(inode: Int)
    case sector(inode: Int, number: Int, candidates: [[UInt8]])
    case record
  }

  private let found: DiskState
  private let sizes: [Int: [Int]]
  private let records: [Data?]
  private var dimensions: [(count: Int, choice: Choice)] = []

  init(_ state: DiskState, _ order: DiskOrder, _ records: [Data?]) {
    found = state
    sizes = state.files.mapValues { Self.sizes(of: $0, order) }
    self.records = Array(Set(records))
    if self.records.count > 1 { dimensions.append((self.records.count, .record)) }
    if !state.renames.isEmpty {
      let count = order == .journal ? state.renames.count + 1 : 1 << state.renames.count
      dimensions.append((count, .renames(prefix: order == .journal)))
    }
    for (inode, file) in state.files.sorted(by: { $0.key < $1.key }) {
      let count = sizes[inode]?.count ?? 1
      if count > 1 { dimensions.append((count, .size(inode: inode))) }
      for (number, sector) in file.sectors.sorted(by: { $0.key < $1.key }) {
        let candidates = Self.candidates(sector, number, of: file, order)
        dimensions.append(
          (candidates.count, .sector(inode: inode, number: number, candidates: candidates)))
      }
    }
  }

  /// The lengths that a file may have: those that it had, and some between them.
  private static func sizes(of file: DiskState.File, _ order: DiskOrder) -> [Int] {
    guard let least = file.sizes.min(), let greatest = file.sizes.max(), least < greatest else {
      return file.sizes
    }
    let sector = DiskState.File.sectorCount
    let boundaries = stride(from: (least / sector + 1) * sector, to: greatest, by: sector)
    return Set(file.sizes + boundaries.prefix(4) + [(least + greatest) / 2, least + 1]).sorted()
  }

  private static func candidates(
    _ sector: DiskState.File.Sector, _ number: Int, of file: DiskState.File, _ order: DiskOrder
  ) -> [[UInt8]] {
    var candidates = sector.candidates
    switch order {
    case .journal:
      let block = DiskState.File.blockCount
      let allocated = (file.sizes[0] + block - 1) / block * block
      if number * DiskState.File.sectorCount >= allocated { candidates = candidates.suffix(1) }
    case .none where sector.fresh < DiskState.File.sectorCount:
      let certain = candidates[0].prefix(sector.fresh)
      for byte: UInt8 in [0, 0xa5] {
        candidates.append(
          certain + [UInt8](repeating: byte, count: DiskState.File.sectorCount - certain.count))
      }
    case .none: break
    }
    return Array(Set(candidates)).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Returns all combinations, or `limit` of them.
  func choices(_ limit: Int, _ random: inout SplitMix) -> [[Int]] {
    var all = 1
    for dimension in dimensions {
      all *= dimension.count
      guard all <= limit else {
        // Nothing and everything, and what lies between.
        return (0..<limit).map { _ in
          dimensions.map { .random(in: 0..<$0.count, using: &random) }
        }
      }
    }
    return (0..<all).map { number in
      var rest = number
      return dimensions.map { dimension in
        defer { rest /= dimension.count }
        return rest % dimension.count
      }
    }
  }

  func state(_ choices: [Int], _ notes: [Int]) -> DiskState {
    var names = found.syncedNames
    var files = found.files.mapValues { file in
      // Sectors that were cut off are among those that aren't certain.
      let count = max(
        file.content.count, ((file.sectors.keys.max() ?? -1) + 1) * DiskState.File.sectorCount)
      return file.content + [UInt8](repeating: 0, count: count - file.content.count)
    }
    var record = records.last ?? nil
    var lengths = found.files.mapValues { $0.content.count }
    for (choice, dimension) in zip(choices, dimensions) {
      switch dimension.choice {
      case .renames(let prefix):
        for (number, change) in found.renames.enumerated()
        where prefix ? number < choice : choice & (1 << number) != 0 {
          DiskState.apply(change, to: &names)
        }
      case .record: record = records[choice]
      case .size(let inode): lengths[inode] = sizes[inode]?[choice]
      case .sector(let inode, let number, let candidates):
        let start = number * DiskState.File.sectorCount
        files[inode]?.replaceSubrange(
          start..<start + DiskState.File.sectorCount, with: candidates[choice])
      }
    }
    for (inode, length) in lengths {
      files[inode] = files[inode].map { bytes in
        bytes.prefix(length) + [UInt8](repeating: 0, count: max(0, length - bytes.count))
      }
    }
    let unfinished = Set(found.files.filter(\.value.isUnfinished).keys)
    return DiskState(
      files: files, unfinished: unfinished, names: names, notes: notes, records: [record])
  }
}
