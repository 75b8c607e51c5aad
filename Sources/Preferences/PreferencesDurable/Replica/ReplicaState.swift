package import FoundationEssentials
package import PreferencesCore

/// One period in which a file is shared at one place, from
/// ``SharedReplica/share(_:clearingDecisions:)`` or ``SharedReplica/adopt(identity:)`` on.
///
/// What a session knows of a server does not apply to another period.
package struct SharingEpoch: Hashable, Sendable {
  /// A tag that the file has used in it.
  let tag: WriterTag

  /// Where it is shared, as ``SharingSettings/place``.
  package let place: String?

  init(_ record: SyncRecord) {
    tag = record.writer
    place = record.settings.place
  }

  /// Fails if the file is no longer shared in this period.
  func check(_ record: SyncRecord, _ connection: SQLiteConnection) throws {
    guard
      try connection.exists("SELECT 1 FROM writer WHERE tag = ? AND own = 1", .bytes(tag.bytes)),
      record.settings.place == place
    else {
      throw PreferencesError(
        .notFound, "the preferences are shared otherwise than before: \(connection.path)")
    }
  }
}

extension SharedReplica {
  /// Returns the current period, or `nil` if the file is not shared.
  package func currentEpoch() throws(PreferencesError) -> SharingEpoch? {
    guard try isShared() else { return nil }
    do throws(PreferencesError) {
      return try inspect { SharingEpoch(try SyncRecord.read($0.connection)) }
    } catch {
      // Sharing has ended meanwhile.
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  /// Returns the same file; its functions fail when sharing ends or changes.
  package func during(_ sharing: SharingEpoch) -> SharedReplica {
    SharedReplica(preferences, during: sharing)
  }

  /// Fails if sharing has ended or changed since ``during(_:)``.
  package func checkEpoch() throws(PreferencesError) { try inspect { _ in } }
}

package struct UnsentChanges: Sendable {
  package var keys: [PreferenceKey]
  /// Whether one of them is in the numbered batch, and may have been performed.
  package var mayHaveHappened: Bool
  /// Whether all of them wait for a decision or were set aside.
  package var areWaiting: Bool

  init(_ connection: SQLiteConnection, upTo mark: Int64) throws {
    (keys, mayHaveHappened, areWaiting) = ([], false, true)
    var seen: Set<KeyBytes> = []
    for batch in try UnsentBatch.all(connection) {
      for change in batch.changes where change.generation <= mark {
        if seen.insert(change.key).inserted { keys.append(change.key.text) }
        if batch.isInFlight { mayHaveHappened = true }
        if !batch.waits { areWaiting = false }
      }
    }
    areWaiting = areWaiting && !keys.isEmpty
  }
}

/// The unsent changes of a key, for lists.
package struct UnsentChange: Sendable {
  package let key: PreferenceKey
  /// Whether the last change is a removal.
  package let isRemoval: Bool
  /// When the first unsent change was made.
  package let date: Date
  /// Whether a change waits for a decision or was set aside.
  package let waits: Bool
}

/// Why a batch is not sent.
package enum SetAsideReason: Int, Hashable, Sendable, Codable {
  case permission = 1
  case newerForm = 2
  case tooLarge = 3
  case noSpace = 4
  /// The server's row of a key is damaged.
  case damaged = 5
}

package struct SharingState: Sendable {
  package var settings: SharingSettings
  package var identity: [UInt8]?
  package var writer: WriterTag
  /// The server's last row `w/<tag>`, or `nil` if there is none.
  package var writerRow: [UInt8]?
  /// The revision of the server that the shadow has; 0 before the first contact.
  package var revision: Int64
  package var isReadOnly: Bool
  package var unsentKeys: Int
  package var unsentBytes: Int
  package var oldestUnsent: Date?
  package var report: SharingReport?
  package var setAside: [(keys: [PreferenceKey], reason: SetAsideReason, message: String)]
  /// The keys whose rows have a newer form.
  package var newerKeys: [PreferenceKey]
  /// The keys whose rows are damaged.
  package var damagedKeys: [PreferenceKey]
}

/// The state of sharing: the row of the table `sync`.
struct SyncRecord: Equatable {
  var settings: SharingSettings
  var isReadOnly: Bool
  var identity: [UInt8]?
  var writer: WriterTag

  /// The server's last row of the writer, and its revision.
  var writerRow: [UInt8]?
  var writtenRevision: Int64 = 0

  /// The number, and the time and random bytes, of the batch that was numbered last.
  var number: Int64 = 0
  var nonce: [UInt8] = []
  var revision: Int64 = 0

  /// The reason to report for the changes of the next snapshot.
  var arrival: ChangeFeedEntry.Reason = .initialSync

  init(settings: SharingSettings, writer: WriterTag) {
    self.settings = settings
    self.writer = writer
    isReadOnly = false
  }

  /// The row of the writer with the batch that was numbered last.
  var newWriterRow: [UInt8] { WriterRow.bytes(number: number, nonce: nonce) }

  /// The life of the server that the shadow has.
  var life: Int64 { identity.map(StoreIdentity.life) ?? 0 }

  /// Returns the row of a change in the batch that was numbered last.
  func row(of change: OutboxChange) -> SharedRow {
    let new = RowOrigin(writer: writer, number: number, time: RowTime(life: life, revision: 0))
    return SharedRow(key: change.key.text, stored: change.value, origin: change.origin ?? new)
  }

  /// Becomes a new writer, of which the server has nothing.
  mutating func takeNewTag() {
    writer = .random()
    writerRow = nil
    writtenRevision = 0
    number = 0
    nonce = []
  }

  // MARK: - Table

  static func read(_ connection: SQLiteConnection) throws -> Self {
    let found = try connection.first(
      """
      SELECT settings, closed, identity, tag, row, written, number, nonce, revision, arrival \
      FROM sync
      """, element: Self.init)
    guard let found else { throw PreferencesError.damagedSharing(connection.path) }
    return found
  }

  private init?(_ row: SQLiteStatement) {
    let settings = Data(row.bytes(0))
    guard let settings = try? JSONDecoder().decode(SharingSettings.self, from: settings),
      let closed = row.integer(1), case let tag = row.bytes(3), tag.count == 16,
      let written = row.integer(5), let number = row.integer(6), let revision = row.integer(8),
      let arrival = row.integer(9).flatMap({ ChangeFeedEntry.Reason(rawValue: Int($0)) })
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

  private func encodedSettings() throws -> [UInt8] {
    guard let data = try? JSONEncoder().encode(settings) else {
      throw PreferencesError(.unstorable, "the settings of sharing cannot be stored")
    }
    return Array(data)
  }

  func insert(_ connection: SQLiteConnection) throws {
    try connection.run(
      """
      INSERT INTO sync VALUES(1, ?, ?, x'', x'', x'', 0, 0, x'', 0, 0, 0, x'')
      """, .bytes(try encodedSettings()), .integer(0))
    try save(connection)
  }

  func save(_ connection: SQLiteConnection) throws {
    try connection.run(
      """
      UPDATE sync SET settings = ?, closed = ?, identity = ?, tag = ?, row = ?, written = ?, \
      number = ?, nonce = ?, revision = ?, arrival = ?
      """, .bytes(try encodedSettings()), .integer(isReadOnly ? 1 : 0), .bytes(identity ?? []),
      .bytes(writer.bytes), .bytes(writerRow ?? []), .integer(writtenRevision), .integer(number),
      .bytes(nonce), .integer(revision), .integer(Int64(arrival.rawValue)))
  }
}

/// A batch or an unbatched change, for ``SharedReplica/unsent(upTo:)``.
struct UnsentBatch {
  let isInFlight: Bool

  /// Whether it, or a batch on which it is based, waits for a decision or was set aside.
  private(set) var waits: Bool
  private(set) var changes: [(key: KeyBytes, generation: Int64)] = []

  /// Returns all of them, each after those on which it is based.
  static func all(_ connection: SQLiteConnection) throws -> [UnsentBatch] {
    var batches: [UnsentBatch] = []
    var last: Int64?
    // Unbatched changes are the last of their keys.
    try connection.run(
      """
      SELECT log.unit, log.key, log.generation, coalesce(unit.state, 0) FROM log \
      LEFT JOIN unit ON unit.id = log.unit ORDER BY log.unit = 0, log.unit
      """
    ) { row in
      let (id, state) = (row.integer(0) ?? 0, row.integer(3) ?? 0)
      if id != last || id == ReplicaTransaction.unbatched {
        batches.append(
          UnsentBatch(
            isInFlight: state == BatchState.inFlight.number,
            waits: state >= BatchState.conflict.number))
      }
      last = id
      batches[batches.count - 1].changes.append((try OpenDatabase.key(row, 1), row.integer(2) ?? 0))
    }
    var waiting: Set<KeyBytes> = []
    for index in batches.indices {
      let changes = batches[index].changes
      guard batches[index].waits || changes.contains(where: { waiting.contains($0.key) }) else {
        continue
      }
      batches[index].waits = true
      waiting.formUnion(changes.map(\.key))
    }
    return batches
  }
}

/// A batch that waits for a decision because a key of it was changed elsewhere.
package struct ReplicaConflict: Sendable {
  package struct Value: Sendable {
    package let key: PreferenceKey
    package let local: PreferenceValue?
    package let shared: PreferenceValue?
  }

  package let values: [Value]
  package let isTransaction: Bool
  package let message: String?
  /// Its first batch.
  let batch: Int64
  /// Changes with everything that a decision depends on; `resolve` compares it.
  package let token: [UInt8]
}

/// How to decide a conflict.
package enum ReplicaDecision: Sendable {
  case takeShared
  case keepLocal
  /// New values; a key that is not listed takes the shared value.
  case set([(key: PreferenceKey, value: PreferenceValue?)])
}
