import FaultTesting
import Foundation
import PrephirencesSystem
import SystemPackage
import Testing

@testable import KeychainVault

/// A log of a simple form in the file of a vault, with a record of what was seen, as the vault has.
///
/// Frames are numbered from 1. Each has a *mark*, a number that its content is made from, so that two
/// attempts to write a frame differ. What is acknowledged, and what the record has, is noted on the
/// disk.
struct SampleLog {
  struct Frame: Hashable {
    let number: Int
    let mark: Int

    /// Marks of the first frame in a file, from which on its name may not be durable.
    var isBase: Bool { mark >= 500 }
    var note: Int { number * 1000 + mark }

    init(_ number: Int, _ mark: Int) {
      self.number = number
      self.mark = mark
    }

    init(note: Int) { self.init(note / 1000, note % 1000) }

    /// Header and content, of which the content may be in many sectors.
    var bytes: Data {
      var random = SplitMix(state: UInt64(note))
      let count = [40, 300, 700, 1500][note % 4]
      let content = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      for byte in content { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      let header = [UInt64(note), UInt64(count), hash, ~hash]
      return header.withUnsafeBytes { Data($0) } + content
    }
  }

  struct Content {
    var frames: [Frame] = []
    var end = 0
    var size = 0

    var lastOffset: Int { end - (frames.last?.bytes.count ?? 0) }
    var isNameNew: Bool { frames.suffix(2).contains { $0.isBase } }
  }

  static let path = "/folder/vault"

  let disk: ModelDisk
  private let soon = Deadline(after: .zero)

  init(_ disk: ModelDisk) { self.disk = disk }

  /// Reads the good frames.
  static func content(of file: any DiskFile) throws -> Content {
    let bytes = try file.read(0..<file.status().size)
    var content = Content(size: bytes.count)
    while bytes.count - content.end >= 32 {
      let note = bytes.dropFirst(content.end).prefix(8).reversed().reduce(0 as UInt64) {
        $0 << 8 | UInt64($1)
      }
      guard note < 1_000_000 else { break }
      let frame = Frame(note: Int(note))
      let expected = frame.bytes
      guard frame.number == content.frames.count + 1,
        bytes.dropFirst(content.end).prefix(expected.count) == expected
      else { break }
      content.frames.append(frame)
      content.end += expected.count
    }
    return content
  }

  /// Reads the file; `nil` if there is none.
  func content() throws -> Content? {
    guard try disk.status(of: Self.path) != nil else { return nil }
    return try Self.content(of: disk.open(Self.path, writing: false))
  }

  /// Appends a frame as the vault does, or makes the file.
  ///
  /// - Returns: The frames then.
  @discardableResult
  func append(_ mark: Int) throws -> [Frame] {
    guard let log = try LockedLog.take(Self.path, on: disk, until: soon) else { return try begin() }
    defer { log.unlock() }
    let content = try settled(log)
    let frame = Frame(content.frames.count + 1, mark)
    try log.append(
      frame.bytes, at: content.end, cutting: content.size > content.end,
      syncsFolder: content.isNameNew)
    disk.note(frame.note)
    return content.frames + [frame]
  }

  private func begin() throws -> [Frame] {
    let new = try UnfinishedVault(for: Self.path, on: disk, like: nil, until: soon)
    let frame = Frame(1, 500)
    try new.file.write(frame.bytes, at: 0)
    let log = try new.takeName(replacing: nil)
    disk.note(frame.note)
    log.unlock()
    return [frame]
  }

  /// Replaces the file by one that has a frame more, which is its base.
  func replace(_ mark: Int) throws {
    let new = try UnfinishedVault(for: Self.path, on: disk, like: nil, until: soon)
    let log = try #require(try LockedLog.take(Self.path, on: disk, until: soon))
    defer { log.unlock() }
    let content = try settled(log)
    let frame = Frame(content.frames.count + 1, 500 + mark)
    try new.file.write(Data((content.frames + [frame]).map(\.bytes).joined()), at: 0)
    let replaced = try new.takeName(replacing: log)
    disk.note(frame.note)
    replaced.unlock()
  }

  /// Writes a frame as somebody does who is killed before it is synced.
  func appendKilled(_ mark: Int) throws {
    let file = try disk.open(Self.path, writing: true)
    let content = try Self.content(of: file)
    try file.write(Frame(content.frames.count + 1, mark).bytes, at: content.end)
  }

  /// Replaces the file as somebody does who is killed before the folder is synced.
  func replaceKilled(_ mark: Int) throws {
    let content = try #require(try content())
    let file = try disk.makeTemporary(Self.path + ".new")
    let frame = Frame(content.frames.count + 1, 500 + mark)
    try file.write(Data((content.frames + [frame]).map(\.bytes).joined()), at: 0)
    try file.sync()
    try disk.open(Self.path, writing: true).mark(isUnfinished: true)
    _ = try disk.exchange(Self.path + ".new", Self.path)
  }

  private func settled(_ log: LockedLog) throws -> Content {
    let content = try Self.content(of: log.file)
    guard let last = content.frames.last, !seen.contains(last) else { return content }
    try log.write(last.bytes, at: content.lastOffset, syncsFolder: content.isNameNew)
    disk.note(last.note)
    return content
  }

  private var seen: [Frame] {
    (disk.states.last?.notes ?? disk.initialNotes).map(Frame.init(note:))
  }

  // MARK: - What must hold

  /// Checks a disk after a power failure: what was acknowledged or recorded is there, and nothing is
  /// torn; and it can be written, even if the power fails again.
  static func check(_ crash: Crash, again: Int = 4) throws {
    let disk = crash.disk()
    let log = SampleLog(disk)
    let found = try log.content()?.frames ?? []
    let seen = Set(crash.notes.map(Frame.init(note:)))
    #expect(seen.subtracting(found).isEmpty, "\(crash.place): found \(found), seen \(seen)")
    guard again > 0 else { return }
    let written = try log.append(77)
    // A file that has its name is whole.
    #expect(written.dropLast() == found[...], "\(crash.place)")
    #expect(try log.content()?.frames == written, "\(crash.place)")
    try disk.forEachPowerLoss(seed: 1, limit: again) { crash in
      try check(crash, again: 0)
    }
  }
}
