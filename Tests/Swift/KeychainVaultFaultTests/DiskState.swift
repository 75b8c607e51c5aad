import Foundation
import Glibc
import PrephirencesSystem

@testable import KeychainVault

/// The files of a ``ModelDisk``, as programs see them, and what is certain of them on the disk.
struct DiskState: Sendable {
  /// The sectors whose contents on the disk are not certain, and the lengths.
  struct File: Sendable {
    struct Sector: Sendable {
      /// What may be there; the last is what programs see.
      var candidates: [[UInt8]]
      /// Whether the next sync writes it.
      var isDirty: Bool
      /// Where the bytes begin that were not in the file when it was synced last.
      let fresh: Int
    }

    static let sectorCount = 512
    static let blockCount = 4096

    /// What programs see.
    private(set) var content: [UInt8]
    private(set) var sectors: [Int: Sector] = [:]
    /// The lengths that it may have on the disk; the first is certain, the last is what programs see.
    private(set) var sizes: [Int]
    /// Counts the changes, as the time of the last one.
    private(set) var changes = 0
    var isUnfinished = false

    /// Creates a file that is on the disk.
    init(content: [UInt8]) {
      self.content = content
      sizes = [content.count]
    }

    mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int) {
      let end = offset + bytes.count
      touch(min(offset, content.count)..<end) { file in
        if file.content.count < end {
          file.content += [UInt8](repeating: 0, count: end - file.content.count)
        }
        file.content.replaceSubrange(offset..<end, with: bytes)
      }
    }

    mutating func truncate(to size: Int) {
      touch(min(size, content.count)..<max(size, content.count)) { file in
        if size < file.content.count {
          file.content.removeSubrange(size...)
        } else {
          file.content += [UInt8](repeating: 0, count: size - file.content.count)
        }
      }
    }

    /// Changes the content, and adds what the sectors of a range contain then.
    private mutating func touch(_ range: Range<Int>, _ change: (inout Self) -> Void) {
      guard !range.isEmpty else { return }
      changes += 1
      let numbers = range.lowerBound / Self.sectorCount...(range.upperBound - 1) / Self.sectorCount
      for number in numbers where sectors[number] == nil {
        let fresh = min(max(0, sizes[0] - number * Self.sectorCount), Self.sectorCount)
        sectors[number] = Sector(candidates: [sector(number)], isDirty: false, fresh: fresh)
      }
      change(&self)
      for number in numbers {
        let present = sector(number)
        sectors[number]?.candidates.removeAll { $0 == present }
        sectors[number]?.candidates.append(present)
        sectors[number]?.isDirty = true
      }
      if sizes.last != content.count { sizes.append(content.count) }
    }

    /// Returns a sector as programs see it, with zeros behind the end of the file.
    func sector(_ number: Int) -> [UInt8] {
      let start = min(number * Self.sectorCount, content.count)
      let bytes = content[start..<min(start + Self.sectorCount, content.count)]
      return bytes + [UInt8](repeating: 0, count: Self.sectorCount - bytes.count)
    }

    mutating func sync() {
      let count = content.count
      // What lies behind the end does not belong to the file any more.
      sectors = sectors.filter { $0.key * Self.sectorCount < count && !$0.value.isDirty }
      sizes = [count]
    }

    /// Leaves to chance what was written, as the next sync writes none of it again.
    ///
    /// The length is kept in the file system's own journal.
    mutating func failSync() {
      for number in sectors.keys { sectors[number]?.isDirty = false }
    }
  }

  var files: [Int: File] = [:]

  /// The names as programs see them.
  private(set) var names: [String: Int] = [:]

  /// The names that are certain, and the changes since then, in their order.
  private(set) var syncedNames: [String: Int] = [:]
  private(set) var renames: [[String: Int?]] = []

  /// What the test has recorded so far.
  var notes: [Int] = []

  /// What the file of the seen record may have: the last is what programs see.
  var records: [Data?] = []

  /// Whether each change of a file shows in its time.
  var hasClock = true

  init() {}

  /// Creates the files of a disk after a power failure.
  init(
    files: [Int: [UInt8]], unfinished: Set<Int>, names: [String: Int], notes: [Int],
    records: [Data?]
  ) {
    self.files = files.mapValues { File(content: $0) }
    for inode in unfinished { self.files[inode]?.isUnfinished = true }
    self.names = names
    syncedNames = names
    self.notes = notes
    self.records = records
  }

  /// Whether programs can tell it from another one.
  var fingerprint: Int {
    var hasher = Hasher()
    for (name, inode) in names.sorted(by: { $0.key < $1.key }) {
      hasher.combine(name)
      hasher.combine(files[inode]?.content)
    }
    hasher.combine(notes)
    hasher.combine(records.last)
    return hasher.finalize()
  }

  mutating func rename(_ changes: [String: Int?]) {
    Self.apply(changes, to: &names)
    renames.append(changes)
  }

  mutating func syncNames() {
    syncedNames = names
    renames = []
  }

  static func apply(_ changes: [String: Int?], to names: inout [String: Int]) {
    for (name, inode) in changes { names[name] = inode }
  }

  func status(_ inode: Int) -> DiskStatus? {
    guard let file = files[inode] else { return nil }
    return DiskStatus(
      identity: FileIdentity(device: 1, inode: UInt64(inode)), size: file.content.count,
      changed: .seconds(hasClock ? file.changes : 0),
      links: names.values.count { $0 == inode },
      isRegular: true, owner: geteuid(), group: getegid(),
      mode: 0o600 | (file.isUnfinished ? DiskStatus.unfinishedMark : 0))
  }
}
