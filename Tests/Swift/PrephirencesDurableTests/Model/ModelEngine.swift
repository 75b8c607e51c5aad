import Prephirences
import PrephirencesDurable

/// An engine in memory: revisions, rows and transactions with compares.
struct ModelEngine {
  private(set) var identity: [UInt8] = [1] + WriterTag.random().bytes
  private(set) var revision: Int64 = 1
  private(set) var floor: Int64 = 0
  private(set) var rows: [PreferenceKey: SharedRow] = [:]
  private(set) var writers: [WriterTag: [UInt8]] = [:]

  /// What a watch reports; compaction removes the oldest.
  private(set) var events: [SharedRevision] = []

  /// Everything that was ever written, also before the engine was restored.
  private(set) var history: [SharedRow] = []

  var snapshot: SharedSnapshot {
    SharedSnapshot(
      revision: revision, identity: identity, floor: floor, writers: writers,
      rows: Array(rows.values))
  }

  /// Puts another row `id` in the place of one, if that is there.
  mutating func renew(_ old: [UInt8]?, _ new: [UInt8]) {
    guard old == identity else { return }
    identity = new
    revision += 1
    // Machines read everything again then.
    events = []
  }

  /// Performs a batch of who knows the row `id` if its compares hold.
  ///
  /// - Returns: The revision; `nil` if they don't.
  mutating func perform(_ batch: SharedBatch, _ identity: [UInt8]?) -> Int64? {
    guard identity == self.identity else { return nil }
    guard writers[batch.writer] == batch.oldWriterRow else { return nil }
    for change in batch.changes {
      let present = rows[change.row.key]?.bytes
      switch change.base {
      case .absent: guard present == nil else { return nil }
      case .row(let row): guard present == row.bytes else { return nil }
      }
    }
    revision += 1
    writers[batch.writer] = batch.newWriterRow
    var changes: [SharedRevision.Change] = [.writer(batch.writer, batch.newWriterRow)]
    for change in batch.changes {
      let row = SharedRow(
        key: change.row.key, revision: revision, bytes: change.row.bytes)
      rows[row.key] = row
      history.append(row)
      changes.append(.row(row))
    }
    events.append(SharedRevision(revision: revision, changes: changes))
    return revision
  }

  /// Removes rows of removals, if they are as they were.
  mutating func collect(_ collected: [SharedRow], floor: Int64) {
    guard collected.allSatisfy({ rows[$0.key]?.bytes == $0.bytes }) else { return }
    revision += 1
    self.floor = max(self.floor, floor)
    for row in collected { rows[row.key] = nil }
    events.append(
      SharedRevision(
        revision: revision, changes: [.floor(floor)] + collected.map { .removed($0.key) }))
  }

  mutating func compact() { events = [] }

  /// Returns to an older state; what was written since is only in the history.
  mutating func restore(_ older: ModelEngine) {
    let history = history
    self = older
    self.history = history
    events = []
  }

  /// The events after a revision; `nil` if some are gone.
  func events(after known: Int64) -> [SharedRevision]? {
    let found = events.filter { $0.revision > known }
    return Int64(found.count) == revision - known ? found : nil
  }
}
