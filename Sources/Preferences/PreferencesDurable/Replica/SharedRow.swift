package import FoundationEssentials
package import PreferencesCore
internal import PrephirencesSystem

/// A writer of shared preferences: a file, until another file is found to be its copy.
package struct WriterTag: Hashable, Sendable {
  /// 16 random bytes; the first is 0 if the server forgets the writer after a while.
  package let bytes: [UInt8]

  /// Whether the server forgets the writer after a while, so that its absence means nothing.
  package var isForgotten: Bool { bytes.first == 0 }

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads 32 lower-case hexadecimal digits.
  package init?(hexadecimal text: some Collection<UInt8>) {
    guard text.count == 32, let bytes = [UInt8](hexadecimal: text),
      bytes.hexadecimal.utf8.elementsEqual(text)
    else { return nil }
    self.init(bytes)
  }

  package var hexadecimal: String { bytes.hexadecimal }

  /// Returns a new tag for a file.
  package static func random() -> Self { Self([.random(in: 1...255)] + randomBytes()) }

  /// Returns a new tag for a writer that the server forgets.
  package static func forgotten() -> Self { Self([0] + randomBytes()) }

  private static func randomBytes() -> [UInt8] { (1..<16).map { _ in .random(in: 0...255) } }
}

/// The row of a key on the server.
///
/// | bytes | mean |
/// | --- | --- |
/// | 1 | the form, 1 |
/// | 1 | the kind of the value; 0 is a removal |
/// | 16 | the tag of the writer |
/// | 8 | the number of the writer's batch, big-endian |
/// | 8 | the life of the server in which the change was made, big-endian |
/// | 8 | 0; if the row was sent again, the revision in which it was written first, big-endian |
/// | rest | the value, as in the file |
package struct SharedRow: Hashable, Sendable {
  package let key: PreferenceKey
  /// The revision of the server in which the row was written, or 0 before that.
  package let revision: Int64
  package let bytes: [UInt8]

  package init(key: PreferenceKey, revision: Int64, bytes: [UInt8]) {
    self.key = key
    self.revision = revision
    self.bytes = bytes
  }

  /// Creates the row of a new value; `nil` is a removal.
  package init(
    key: PreferenceKey, value: PreferenceValue?, writer: WriterTag, number: Int64,
    life: Int64 = 0
  ) {
    let time = RowTime(life: life, revision: 0)
    self.init(
      key: key, stored: value?.encoded,
      origin: RowOrigin(writer: writer, number: number, time: time))
  }

  init(key: PreferenceKey, stored: PreferenceValue.Encoded?, origin: RowOrigin) {
    let header = [Self.form, (stored?.kind ?? .removed).rawValue]
    self.init(key: key, revision: 0, bytes: header + origin.bytes + (stored?.bytes ?? []))
  }

  // Compared by bytes: keys that are equal as `String` can differ.
  package static func == (one: Self, other: Self) -> Bool {
    one.revision == other.revision && one.bytes == other.bytes
      && one.key.utf8.elementsEqual(other.key.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(revision)
    hasher.combine(bytes)
  }

  package enum Content {
    case value(PreferenceValue)
    case removal
    /// The form or the kind is newer than this release.
    case newer
    case damaged
  }

  package var content: Content {
    switch form {
    case .value(nil): .removal
    case .value(let stored?): stored.decoded.map { .value($0) } ?? .damaged
    case .newer: .newer
    case .damaged: .damaged
    }
  }

  /// `nil` if the form is newer, or the row damaged.
  package var writer: WriterTag? { isReadable ? WriterTag(Array(bytes[2..<18])) : nil }
  package var number: Int64? { isReadable ? BigEndian.number(bytes[18..<26]) : nil }

  /// Whether a machine has sent the row again after the server lost it; any machine may have made
  /// the change.
  package var isSentAgain: Bool { isReadable && written != 0 }

  private var written: Int64 { BigEndian.number(bytes[34..<Self.headerCount]) }

  /// `nil` if the form is newer, or the row damaged.
  var origin: RowOrigin? {
    guard let origin = isReadable ? RowOrigin(bytes[2..<Self.headerCount]) : nil else { return nil }
    guard origin.time.revision == 0 else { return origin }
    let time = RowTime(life: origin.time.life, revision: revision)
    return RowOrigin(writer: origin.writer, number: origin.number, time: time)
  }

  /// Whether it has the same change of the same writer, whenever it was written.
  func isSameChange(as other: Self) -> Bool {
    bytes == other.bytes
      || (isReadable && other.isReadable && bytes[..<26] == other.bytes[..<26]
        && bytes[Self.headerCount...] == other.bytes[Self.headerCount...])
  }

  private static let form: UInt8 = 1

  /// The size of a row before its value.
  package static let headerCount = BatchLimit.rowHeader

  private var isReadable: Bool { bytes.first == Self.form && bytes.count >= Self.headerCount }

  /// The contents of a row without the decoded value; `nil` is a removal.
  enum Form: Hashable {
    case value(PreferenceValue.Encoded?)
    case newer
    case damaged
  }

  var form: Form {
    guard let form = bytes.first, form >= Self.form else { return .damaged }
    guard form == Self.form else { return .newer }
    guard isReadable else { return .damaged }
    guard let kind = PreferenceValue.Kind(rawValue: bytes[1]), kind != .damaged else {
      return .newer
    }
    let value = PreferenceValue.Encoded(kind: kind, bytes: Array(bytes[Self.headerCount...]))
    return .value(kind == .removed ? nil : value)
  }
}

enum BigEndian {
  static func bytes(_ number: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }
}

package struct SharedBatch: Sendable {
  /// What the row of a key must be when the batch is performed.
  package enum Base: Hashable, Sendable {
    case absent
    case row(SharedRow)
  }

  package struct Change: Sendable {
    package let row: SharedRow
    package let base: Base
    package init(row: SharedRow, base: Base) {
      self.row = row
      self.base = base
    }
  }

  package let writer: WriterTag
  package let number: Int64
  package let changes: [Change]
  /// The row `w/<tag>` before and with this batch, see ``WriterRow``.
  package let oldWriterRow: [UInt8]?
  package let newWriterRow: [UInt8]
  /// Whether it is a transaction; otherwise it has single changes that are sent together.
  package let isTransaction: Bool

  package init(
    writer: WriterTag, number: Int64, changes: [Change], oldWriterRow: [UInt8]?,
    newWriterRow: [UInt8], isTransaction: Bool
  ) {
    self.writer = writer
    self.number = number
    self.changes = changes
    self.oldWriterRow = oldWriterRow
    self.newWriterRow = newWriterRow
    self.isTransaction = isTransaction
  }

  package static let greatestKeys = BatchLimit.keys
  package static let greatestBytes = BatchLimit.bytes
}

/// Everything that the server has of a store, at one revision.
package struct SharedSnapshot: Sendable {
  package var revision: Int64
  package var identity: [UInt8]?
  package var floor: Int64
  /// The rows `w/<tag>`.
  package var writers: [WriterTag: [UInt8]]
  package var rows: [SharedRow]
  package init(
    revision: Int64, identity: [UInt8]?, floor: Int64, writers: [WriterTag: [UInt8]],
    rows: [SharedRow]
  ) {
    self.revision = revision
    self.identity = identity
    self.floor = floor
    self.writers = writers
    self.rows = rows
  }
}

package enum SnapshotOutcome: Hashable, Sendable {
  case applied
  /// The identity is missing or differs; nothing was changed.
  case foreign
  /// Another file writes with this file's tag: call `renewWriter()`, and read again.
  case cloned
  /// A batch was acknowledged after everything was read: nothing was changed; read again.
  case outdated
  /// The server was restored, and no machine has noticed: nothing was changed. Put this row `id`,
  /// and read again.
  case restored([UInt8])
}

package struct SharedRevision: Sendable {
  package enum Change: Sendable {
    case row(SharedRow)
    /// The row was removed, by a collection or by another tool.
    case removed(PreferenceKey)
    case writer(WriterTag, [UInt8]?)
    case floor(Int64)
  }

  package var revision: Int64
  package var changes: [Change]
  package init(revision: Int64, changes: [Change]) {
    self.revision = revision
    self.changes = changes
  }
}

/// The row `w/<tag>` of a writer, which each of its transactions writes.
///
/// | bytes | mean |
/// | --- | --- |
/// | 1 | the form, 1 |
/// | 8 | the number of the batch, big-endian |
/// | 8 | when it was numbered by the writer's clock, in milliseconds since 1970, big-endian |
/// | 8 | random bytes, which differ from those of a copied file |
package enum WriterRow {
  private static let form: UInt8 = 1
  private static let count = 25

  package static func new(number: Int64) -> [UInt8] { bytes(number: number, nonce: newNonce()) }

  /// Returns the time and random bytes that follow the number.
  static func newNonce() -> [UInt8] {
    BigEndian.bytes(Date().milliseconds)
      + (0..<8).map { _ in UInt8.random(in: 0...255) }
  }

  static func bytes(number: Int64, nonce: [UInt8]) -> [UInt8] {
    [form] + BigEndian.bytes(number) + nonce
  }

  /// The number of the batch, or `nil` if the row is damaged or has a newer form.
  package static func number(_ row: [UInt8]) -> Int64? {
    isReadable(row) ? BigEndian.number(row[1..<9]) : nil
  }

  /// When the batch was numbered, or `nil` if the row is damaged or has a newer form.
  package static func date(_ row: [UInt8]) -> Date? {
    isReadable(row) ? Date(foreignMilliseconds: BigEndian.number(row[9..<17])) : nil
  }

  private static func isReadable(_ row: [UInt8]) -> Bool { row.count == count && row[0] == form }
}

/// Times in files and rows, in milliseconds since 1970.
extension Date {
  package init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  package var milliseconds: Int64 { Int64(timeIntervalSince1970 * 1000) }

  /// Converts a time from another machine, or returns `nil` if no clock shows it: before 1970, or
  /// after the year 9999.
  package init?(foreignMilliseconds milliseconds: Int64) {
    guard (0..<253_402_300_800_000).contains(milliseconds) else { return nil }
    self.init(milliseconds: milliseconds)
  }
}
