internal import FoundationEssentials

/// When a row was written: in which life of the server, and in which revision.
///
/// A life begins when a machine notices that the server was restored, because a restored server
/// uses revisions again. Of two rows of a key, the later one is newer.
struct RowTime: Hashable, Comparable {
  let life: Int64
  let revision: Int64

  static func < (one: Self, other: Self) -> Bool {
    (one.life, one.revision) < (other.life, other.revision)
  }
}

/// Who made the change of a row, and when it was first written.
struct RowOrigin: Hashable {
  let writer: WriterTag
  let number: Int64
  let time: RowTime

  static let count = 40

  init(writer: WriterTag, number: Int64, time: RowTime) {
    self.writer = writer
    self.number = number
    self.time = time
  }

  /// Reads ``bytes``, or returns `nil` for another length.
  init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.count else { return nil }
    self.init(
      writer: WriterTag(Array(bytes[..<16])), number: BigEndian.number(bytes[16..<24]),
      time: RowTime(
        life: BigEndian.number(bytes[24..<32]), revision: BigEndian.number(bytes[32..<40])))
  }

  var bytes: [UInt8] {
    writer.bytes + BigEndian.bytes(number) + BigEndian.bytes(time.life)
      + BigEndian.bytes(time.revision)
  }

  /// Whether it is newer; rows with the same time, which only different restored servers can have,
  /// are ordered equally on all machines.
  func isNewer(than other: Self) -> Bool {
    time == other.time
      ? other.bytes.lexicographicallyPrecedes(bytes) : other.time < time
  }
}

/// The row `id`, which identifies a store.
///
/// | bytes | mean |
/// | --- | --- |
/// | 1 | the form, 1 |
/// | 16 | random bytes, which stay |
/// | 8 | the life of the server, big-endian; missing before the first restored server |
///
/// A life is the time at which a machine noticed that the server was restored, in milliseconds
/// since 1970, and is greater than every life that the machine knew. Every batch compares the row.
package enum StoreIdentity {
  private static let count = 17

  /// Whether a row can be one: no clock shows a life that is not a valid time.
  package static func isIdentity(_ row: [UInt8]) -> Bool {
    row.first == 1 && (row.count == count || row.count == count + 8)
      && Date(foreignMilliseconds: life(row)) != nil
  }

  /// Whether two rows identify the same store.
  package static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.prefix(count) == other.prefix(count)
  }

  package static func life(_ row: [UInt8]) -> Int64 {
    row.count == count + 8 ? BigEndian.number(row[count...]) : 0
  }

  /// Returns the row that begins a new life.
  static func renewed(_ row: [UInt8], after known: Int64) -> [UInt8] {
    let next = max(Date().milliseconds, max(known, life(row)) + 1)
    return row.prefix(count) + BigEndian.bytes(next)
  }
}
