import FaultTesting
import Foundation
import Glibc
import Prephirences
import PrephirencesDurable

/// The files of a suite, to which operations on shared preferences happen.
enum SharedSample: String, CaseIterable {
  /// It is not shared.
  case plain
  /// It is shared, and had no contact.
  case fresh
  /// It is in step but for unsent changes, also of a transaction and a removal.
  case unsent
  /// Besides, a batch is numbered.
  case numbered
  /// Besides, a single change and a transaction wait for a decision.
  case conflicting

  static let identity = [UInt8](repeating: 1, count: 17)
  private static let other = WriterTag([UInt8](repeating: 9, count: 16))
  private static let cache = allCases.reduce(into: [:]) { cache, sample in
    cache[sample] = Result { try sample.made() }
  }

  /// The names and contents of the files; a part is only in SQLite's log.
  func files() throws -> [String: Data] { try Self.cache[self]?.get() ?? [:] }

  private func made() throws -> [String: Data] {
    let home = try TestHome()
    let store = DurablePreferences(suiteName: home.suite, folder: home.config)
    try store.transaction { _ in
      for number in 0..<30 { try store.storeObject(number, forKey: "k\(number)") }
      try store.storeObject(Data(repeating: 3, count: 20_000), forKey: "long")
    }
    try store.checkpoint()
    try share(store)
    return try home.files()
  }

  private func share(_ store: DurablePreferences) throws {
    guard self != .plain else { return try store.storeObject("in the log", forKey: "k29") }
    let replica = SharedReplica(store)
    var settings = SharingSettings()
    settings.programDecides = self == .conflicting
    try replica.share(settings)
    guard self != .fresh else { return }
    _ = try replica.apply(Self.snapshot(1, [try Self.row("shared", 1, 1)]))
    var revision: Int64 = 1
    while let batch = try replica.nextBatch() {
      revision += 1
      try replica.acknowledge(batch, revision: revision)
    }
    try store.storeObject("changed", forKey: "k1")
    try store.storeObject(nil, forKey: "k2")
    try store.storeObject("new", forKey: "new")
    try store.transaction { _ in
      for key in ["k2", "k3", "k4"] { try store.storeObject("unit", forKey: key) }
    }
    if self == .numbered { _ = try replica.nextBatch() }
    if self == .conflicting { _ = try replica.apply([Self.conflicts(at: 20)]) }
  }

  // MARK: - What the engine has

  static func snapshot(_ revision: Int64, _ rows: [SharedRow]) -> SharedSnapshot {
    SharedSnapshot(
      revision: revision, identity: identity, floor: 0, writers: [other: writerRow(revision)],
      rows: rows)
  }

  /// Another machine's row.
  static func row(
    _ key: String, _ value: PreferenceValue?, _ revision: Int64
  ) throws -> SharedRow {
    let row = SharedRow(key: key, value: value, writer: other, number: revision)
    return SharedRow(key: key, revision: revision, bytes: row.bytes)
  }

  /// Another machine changes keys whose changes are unsent here.
  static func conflicts(at revision: Int64) throws -> SharedRevision {
    SharedRevision(
      revision: revision,
      changes: try ["k1", "k3"].map { .row(try row($0, "there", revision)) })
  }

  private static func writerRow(_ number: Int64) -> [UInt8] {
    [1] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } + other.bytes
  }
}

extension TestHome {
  convenience init(with files: [String: Data]) throws {
    try self.init()
    mkdir(config, 0o700)
    for (name, data) in files { try write(data, name) }
  }

  /// The files as they are now, without those that are made anew.
  func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: config)
    where !name.hasSuffix("-shm") && !name.hasSuffix("-lock") {
      // Closing the database file would drop the locks of SQLite, which holds none now.
      files[name] = try Data(contentsOf: URL(filePath: "\(config)/\(name)"))
    }
    return files
  }
}
