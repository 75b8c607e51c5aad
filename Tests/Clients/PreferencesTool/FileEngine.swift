internal import Foundation
internal import Glibc
internal import Prephirences
internal import PrephirencesDurable

/// A stand-in of the engine in a file, to which each revision appends a line.
///
/// If a process is killed while it writes, the next one removes the line without an end.
struct FileEngine {
  static let identity = [UInt8](repeating: 1, count: 17)

  private let path: String
  private(set) var revision: Int64 = 1
  private(set) var rows: [PreferenceKey: SharedRow] = [:]
  private(set) var writers: [WriterTag: [UInt8]] = [:]
  private var events: [SharedRevision] = []

  private struct Line: Codable {
    var writer: [UInt8]
    var writerRow: [UInt8]
    var keys: [String]
    var rows: [[UInt8]]
  }

  init(_ path: String) throws {
    self.path = path
    let text = FileManager.default.contents(atPath: path) ?? Data()
    let end = text.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    if end < text.count { truncate(path, off_t(end)) }
    for line in text[..<end].split(separator: UInt8(ascii: "\n")) {
      add(try JSONDecoder().decode(Line.self, from: line))
    }
  }

  var snapshot: SharedSnapshot {
    SharedSnapshot(
      revision: revision, identity: Self.identity, floor: 0, writers: writers,
      rows: Array(rows.values))
  }

  func events(after known: Int64) -> [SharedRevision] { events.filter { $0.revision > known } }

  /// Performs a batch if its compares hold.
  ///
  /// - Returns: Whether they do.
  mutating func perform(_ batch: SharedBatch) throws -> Bool {
    guard writers[batch.writer] == batch.oldWriterRow else { return false }
    for change in batch.changes {
      let present = rows[change.row.key]?.bytes
      switch change.base {
      case .absent: guard present == nil else { return false }
      case .row(let row): guard present == row.bytes else { return false }
      }
    }
    try append(
      Line(
        writer: batch.writer.bytes, writerRow: batch.newWriterRow,
        keys: batch.changes.map(\.row.key), rows: batch.changes.map(\.row.bytes)))
    return true
  }

  /// Writes a value as another machine.
  mutating func write(_ value: Int, forKey key: PreferenceKey) throws {
    let other = WriterTag([UInt8](repeating: 9, count: 16))
    let number = revision + 1
    let row = SharedRow(key: key, value: .integer(Int64(value)), writer: other, number: number)
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    try append(
      Line(
        writer: other.bytes, writerRow: [1] + bytes + other.bytes, keys: [key], rows: [row.bytes]))
  }

  private mutating func append(_ line: Line) throws {
    let bytes = Array(try JSONEncoder().encode(line)) + [UInt8(ascii: "\n")]
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    defer { close(file) }
    guard bytes.withUnsafeBytes({ Glibc.write(file, $0.baseAddress, $0.count) }) == bytes.count
    else { throw CocoaError(.fileWriteUnknown) }
    add(line)
  }

  private mutating func add(_ line: Line) {
    revision += 1
    let writer = WriterTag(line.writer)
    writers[writer] = line.writerRow
    var changes: [SharedRevision.Change] = [.writer(writer, line.writerRow)]
    for (key, bytes) in zip(line.keys, line.rows) {
      let row = SharedRow(key: key, revision: revision, bytes: bytes)
      rows[key] = row
      changes.append(.row(row))
    }
    events.append(SharedRevision(revision: revision, changes: changes))
  }
}
