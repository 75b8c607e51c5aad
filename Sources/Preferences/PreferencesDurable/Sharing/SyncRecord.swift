internal import Foundation
internal import Prephirences

/// What a shared file knows of its engine: the row of the table `sync`.
struct SyncRecord: Equatable {
  var settings: SharingSettings
  var isReadOnly: Bool
  var identity: [UInt8]?
  var writer: WriterTag

  /// The row of the writer as the engine had it last, and since which revision.
  var writerRow: [UInt8]?
  var writtenRevision: Int64 = 0

  /// The number, and the time and random bytes, of the last unit that was numbered.
  var number: Int64 = 0
  var nonce: [UInt8] = []
  var revision: Int64 = 0

  /// The reason of what the next snapshot brings.
  var arrival: JournalEntry.Reason = .initialSync

  init(settings: SharingSettings, writer: WriterTag) {
    self.settings = settings
    self.writer = writer
    isReadOnly = false
  }

  /// The row of the writer with the last unit that was numbered.
  var newWriterRow: [UInt8] { WriterRow.bytes(number: number, nonce: nonce) }

  /// Forgets what the engine has of this writer, which becomes another one.
  mutating func takeNewTag() {
    writer = .random()
    writerRow = nil
    writtenRevision = 0
    number = 0
    nonce = []
  }

  // MARK: - Table

  static func read(_ connection: SQLiteConnection) throws(PreferencesError) -> Self {
    var found: Self?
    try connection.run(
      """
      SELECT settings, closed, identity, tag, row, written, number, nonce, revision, arrival \
      FROM sync
      """
    ) { row in found = Self(row) }
    guard let found else { throw .damagedSharing(connection.path) }
    return found
  }

  private init?(_ row: SQLiteStatement) {
    let settings = Data(row.bytes(0))
    guard let settings = try? JSONDecoder().decode(SharingSettings.self, from: settings),
      let closed = row.integer(1), case let tag = row.bytes(3), tag.count == 16,
      let written = row.integer(5), let number = row.integer(6), let revision = row.integer(8),
      let arrival = row.integer(9).flatMap({ JournalEntry.Reason(rawValue: Int($0)) })
    else { return nil }
    self.settings = settings
    isReadOnly = closed != 0
    identity = row.bytes(2).isEmpty ? nil : row.bytes(2)
    writer = WriterTag(tag)
    writerRow = row.bytes(4).isEmpty ? nil : row.bytes(4)
    writtenRevision = written
    self.number = number
    nonce = row.bytes(7)
    self.revision = revision
    self.arrival = arrival
  }

  private func encodedSettings() throws(PreferencesError) -> [UInt8] {
    guard let data = try? JSONEncoder().encode(settings) else {
      throw PreferencesError(.unstorable, "the settings of sharing cannot be stored")
    }
    return Array(data)
  }

  func insert(_ connection: SQLiteConnection) throws(PreferencesError) {
    try connection.run(
      """
      INSERT INTO sync VALUES(1, ?, ?, x'', x'', x'', 0, 0, x'', 0, 0, 0, x'')
      """, .bytes(try encodedSettings()), .integer(0))
    try save(connection)
  }

  func save(_ connection: SQLiteConnection) throws(PreferencesError) {
    try connection.run(
      """
      UPDATE sync SET settings = ?, closed = ?, identity = ?, tag = ?, row = ?, written = ?, \
      number = ?, nonce = ?, revision = ?, arrival = ?
      """, .bytes(try encodedSettings()), .integer(isReadOnly ? 1 : 0), .bytes(identity ?? []),
      .bytes(writer.bytes), .bytes(writerRow ?? []), .integer(writtenRevision), .integer(number),
      .bytes(nonce), .integer(revision), .integer(Int64(arrival.rawValue)))
  }
}
