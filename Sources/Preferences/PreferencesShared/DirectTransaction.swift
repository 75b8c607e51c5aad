package import FoundationEssentials
package import PreferencesCore
package import PreferencesDurable
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// What one revision of the server has changed in a store.
package struct StoreTransaction: Sendable {
  package struct Change: Sendable {
    package let key: PreferenceKey
    /// The rows before and after, or `nil` if there was none.
    package let old: SharedRow?
    package let new: SharedRow?
  }

  package let revision: Int64
  package var changes: [Change]

  /// When it was made, by the clock of its machine; `nil` if unknown.
  package var date: Date?
  /// Who has made it; `nil` if a tool other than this package has.
  package var writer: WriterTag?
  /// The name that the writer's machine had then, as it says itself.
  package var machine: String?
  /// The names of the machines whose changes the writer has sent again.
  package var originalMachines: [WriterTag: String] = [:]

  /// Whether the server still has the rows from before.
  package let hasOld: Bool
}

extension DirectStore {
  /// The keys that were changed since, so that the transaction was not reverted.
  package struct ChangedSince: Error {
    /// The current rows; `nil` if a row was deleted.
    package let keys: [(key: PreferenceKey, row: SharedRow?)]
  }

  /// Restores the values from before a transaction, if no key was changed since; all or nothing.
  package func revert(_ reverted: StoreTransaction, isRehearsal: Bool = false) throws {
    try change(asOne: true, isRehearsal: isRehearsal) { transaction in
      var changed: [(key: PreferenceKey, row: SharedRow?)] = []
      for change in reverted.changes {
        let row = try transaction.row(change.key)
        if row != change.new { changed.append((change.key, row)) }
      }
      guard changed.isEmpty else { throw ChangedSince(keys: changed) }
      for change in reverted.changes {
        transaction.storeValue(try change.old?.storedValue(), forKey: change.key)
      }
    }
  }
}

/// Reads and changes of a shared store that are sent together.
package final class DirectTransaction {
  /// A change, with the row that it replaces.
  struct Change {
    let key: PreferenceKey
    let value: PreferenceValue?
    let base: SharedRow?
  }

  private let store: DirectStore
  private let deadline: Deadline

  /// The rows that were read, by the UTF-8 of their keys.
  private var rows: [[UInt8]: SharedRow?] = [:]
  private var hasAllRows = false

  /// The changes, by the UTF-8 of their keys.
  private var changed: [[UInt8]: (key: PreferenceKey, value: PreferenceValue?)] = [:]
  private var order: [[UInt8]] = []

  init(_ store: DirectStore, _ deadline: Deadline) {
    self.store = store
    self.deadline = deadline
  }

  /// Returns the value of a key as this transaction sees it, or `nil` if there is none.
  package func fetchValue(
    forKey key: PreferenceKey
  ) throws(PreferencesError) -> PreferenceValue? {
    if let changed = changed[Array(key.utf8)] { return changed.value }
    return try row(key)?.storedValue()
  }

  /// Returns all readable keys with their values as this transaction sees them, and the errors of
  /// the others.
  package func fetchReadablePairs() throws(PreferencesError) -> ReadablePairs {
    if !hasAllRows {
      for row in try store.snapshot(deadline).rows {
        // The changes are based on the rows that were read first.
        let bytes = Array(row.key.utf8)
        if rows[bytes] == nil { rows[bytes] = .some(row) }
      }
      hasAllRows = true
    }
    var found = ReadablePairs(rows.filter { changed[$0.key] == nil }.compactMap(\.value))
    for (key, value) in changed.values {
      if let value { found.pairs.append((key, value)) }
    }
    return found
  }

  /// Sets the value of a key; `nil` removes it.
  package func storeValue(_ value: PreferenceValue?, forKey key: PreferenceKey) {
    let bytes = Array(key.utf8)
    if changed.updateValue((key, value), forKey: bytes) == nil { order.append(bytes) }
  }

  /// Returns what differs from the store, with the rows that it replaces.
  func changes() throws -> [Change] {
    var changes: [Change] = []
    for bytes in order {
      guard let (key, value) = changed[bytes] else { continue }
      try value?.checkDepth(forKey: key)
      let base = try row(key)
      if case .newer = base?.content { throw PreferencesError.newerRow(key) }
      if value == nil, base == nil { continue }
      if value == nil, case .removal = base?.content { continue }
      changes.append(Change(key: key, value: value, base: base))
    }
    return changes
  }

  /// Returns the row that a change of the key is based on.
  func row(_ key: PreferenceKey) throws(PreferencesError) -> SharedRow? {
    let bytes = Array(key.utf8)
    if let row = rows[bytes] { return row }
    if hasAllRows { return nil }
    let row = try store.row(key, deadline)
    rows[bytes] = .some(row)
    return row
  }
}

/// Sends changes to a shared store, under a writer's tag that the server forgets after a day.
final class DirectCommit {
  static let greatestKeys = 100
  static let greatestBytes = 512 << 10

  private static let day: Int64 = 86_400

  private let store: DirectStore
  private let deadline: Deadline
  private let writer = WriterTag.forgotten()
  private let quota = SharingQuota()
  private var lease: Int64?
  private var number: Int64 = 0
  private var writerRow: [UInt8]?
  /// The life of the server, from the row `id`.
  private var life: Int64 = 0
  /// Whether the next transaction names this machine; only the first one does.
  private var namesMachine = true

  init(_ store: DirectStore, _ deadline: Deadline) {
    self.store = store
    self.deadline = deadline
  }

  /// Sends changes, in pieces unless they must be one transaction.
  func perform(_ changes: [DirectTransaction.Change], asOne: Bool) throws -> Bool {
    try check(changes, asOne: asOne)
    let identity = try identity()
    life = StoreIdentity.life(identity)
    var rest = changes[...]
    while !rest.isEmpty {
      let piece = try piece(of: rest, isWhole: asOne)
      guard try send(piece, identity) else { return false }
      rest = rest.dropFirst(piece.count)
    }
    return true
  }

  /// Fails as the changes would, without making them.
  func rehearse(_ changes: [DirectTransaction.Change], asOne: Bool) throws {
    guard !changes.isEmpty else { return }
    try check(changes, asOne: asOne)
    _ = try knownIdentity()
    let (client, layout) = (store.client, store.layout)
    // The rights for one piece are those for all, unless a role allows single keys.
    let keys =
      [layout.writer(writer)] + changes.prefix(SharedBatch.greatestKeys).map { layout.key($0.key) }
    do {
      try client.requireRights(toPut: keys, layout, deadline: deadline)
    } catch let error as EtcdError {
      throw unchanged(store.described(error, ofChange: true))
    }
  }

  // MARK: - Pieces

  private func check(_ changes: [DirectTransaction.Change], asOne: Bool) throws {
    for change in changes { try check(change) }
    guard !asOne || changes.count <= SharedBatch.greatestKeys else {
      throw PreferencesError(
        .overQuota,
        "etcd changes at most \(SharedBatch.greatestKeys) keys as one, and these are "
          + "\(changes.count); nothing was changed")
    }
  }

  private func check(_ change: DirectTransaction.Change) throws {
    guard change.value != nil else { return }
    guard change.key.utf8.count <= quota.keyBytes else {
      throw PreferencesError(
        .overQuota,
        "the key '\(change.key)' has more than \(quota.keyBytes) bytes; nothing was changed")
    }
    guard row(of: change).bytes.count <= quota.valueBytes else {
      throw PreferencesError(
        .overQuota,
        "the value of the key '\(change.key)' has more than 1 MiB; nothing was changed")
    }
  }

  private func row(of change: DirectTransaction.Change) -> SharedRow {
    SharedRow(
      key: change.key, value: change.value, writer: writer, number: number + 1, life: life)
  }

  /// Returns as many of the first changes as one transaction takes, or all of them.
  private func piece(
    of changes: ArraySlice<DirectTransaction.Change>, isWhole: Bool
  ) throws -> [SharedBatch.Change] {
    var piece: [SharedBatch.Change] = []
    var bytes = 0
    for change in isWhole ? changes : changes.prefix(Self.greatestKeys) {
      let row = row(of: change)
      bytes += row.bytes.count
      if !isWhole, !piece.isEmpty, bytes > Self.greatestBytes { break }
      piece.append(SharedBatch.Change(row: row, base: change.base.map { .row($0) } ?? .absent))
    }
    return piece
  }

  private func send(_ changes: [SharedBatch.Change], _ identity: [UInt8]) throws -> Bool {
    let newRow = WriterRow.new(number: number + 1)
    let batch = BatchTransaction(
      layout: store.layout, identity: identity,
      batch: SharedBatch(
        writer: writer, number: number + 1, changes: changes, oldWriterRow: writerRow,
        newWriterRow: newRow, isTransaction: true))
    var transaction = batch.transaction
    transaction.success[0] = .put(
      key: store.layout.writer(writer), value: newRow, lease: try grantedLease())
    if namesMachine, let machine = try? MachineRow(name: store.machine).bytes() {
      transaction.success.append(
        .put(key: store.layout.machine(writer), value: machine, lease: try grantedLease()))
    }
    let answer: EtcdTransactionAnswer
    do {
      answer = try settled { try store.client.perform(transaction, deadline: $0) }
    } catch let error as PreferencesError where error.code == .accessDenied && namesMachine {
      // The user may be allowed to change these keys only.
      namesMachine = false
      return try send(changes, identity)
    }
    namesMachine = false
    switch batch.outcome(of: answer) {
    case .committed: break
    case .changed: return false
    case .foreign:
      // The server was restored, and another machine has noticed that.
      guard let now = try store.identity(deadline), StoreIdentity.isSame(now, identity) else {
        throw otherStore
      }
      return false
    case .cloned, .restored: throw otherStore
    case .malformed:
      throw PreferencesError(EtcdError(.protocolViolation, "an answer lacks what was asked for"))
    }
    number += 1
    writerRow = newRow
    return true
  }

  // MARK: - The store and the writer

  /// Returns the row `id`, or `nil` if there is no store yet.
  private func knownIdentity() throws -> [UInt8]? {
    if let identity = try store.identity(deadline) { return identity }
    let values = try store.reporting {
      try store.client.range(store.layout.values, limit: 1, deadline: deadline)
    }
    guard values.rows.isEmpty else { throw otherStore }
    return nil
  }

  /// Returns the row `id`; the first writer of a store creates it.
  private func identity() throws -> [UInt8] {
    if let identity = try knownIdentity() { return identity }
    let (client, layout) = (store.client, store.layout)
    let made = StoreRow.newIdentity()
    let transaction = EtcdTransaction(
      compares: [.absent(layout.identity)],
      success: [.put(key: layout.identity, value: made)],
      failure: [.range(.one(layout.identity))])
    let answer = try settled { try client.perform(transaction, deadline: $0) }
    guard !answer.succeeded else { return made }
    guard case .range(let rows)? = answer.responses.first, let row = rows.first else {
      throw otherStore
    }
    return row.value
  }

  private func grantedLease() throws -> Int64 {
    if let lease { return lease }
    // An unused lease expires.
    let granted = try settled { deadline in
      try store.client.grantLease(seconds: Self.day, deadline: deadline)
    }
    lease = granted
    return granted
  }

  private var otherStore: PreferencesError {
    unchanged(
      PreferencesError(
        .foreignStore,
        "the shared store was removed or replaced meanwhile, or its rows are not its own"))
  }

  /// Adds to a failure what was changed before it: nothing, or a known part.
  private func unchanged(_ error: PreferencesError) -> PreferencesError {
    let outcome = number == 0 ? "nothing was changed" : "only a part was changed"
    return PreferencesError(error.code, "\(error.message); \(outcome)")
  }

  /// Repeats a call until its outcome is known.
  ///
  /// The same transaction never has two effects: it compares the row of its writer, and changes it.
  private func settled<Answer>(_ body: (Deadline) throws -> Answer) throws -> Answer {
    var mayHaveHappened = false
    while true {
      do {
        return try body(deadline.limited(by: Deadline(after: .seconds(5))))
      } catch let error as EtcdError {
        mayHaveHappened = mayHaveHappened || error.mayHaveHappened
        let isRepeatable = mayHaveHappened || error.code == .timedOut || error.code == .unreachable
        guard isRepeatable, !deadline.hasPassed else {
          throw mayHaveHappened
            ? PreferencesError.unsettled(error) : unchanged(store.described(error, ofChange: true))
        }
      }
      Deadline.pause(upTo: 100)
    }
  }
}

extension PreferencesError {
  fileprivate static func unsettled(_ error: EtcdError) -> Self {
    Self(
      .outcomeUnknown,
      "the shared store did not say in time whether it was changed: the change may have happened; "
        + "read it again (\(error.message))")
  }
}
