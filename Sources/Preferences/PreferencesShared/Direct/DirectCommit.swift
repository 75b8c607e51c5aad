internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// Sends changes to a shared store, as a writer of its own that is forgotten after a day.
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
  /// Whether the next transaction says which machine this is, as the first one does.
  private var namesMachine = true

  init(_ store: DirectStore, _ deadline: Deadline) {
    self.store = store
    self.deadline = deadline
  }

  /// Sends changes, in pieces unless they must be one transaction.
  ///
  /// - Returns: `false` if somebody has changed one of the keys: then the rest was not sent.
  /// - Throws: ``PreferencesError``.
  func perform(
    _ changes: [DirectTransaction.Change], asOne: Bool
  ) throws(PreferencesError) -> Bool {
    try check(changes, asOne: asOne)
    let identity = try identity()
    var rest = changes[...]
    while !rest.isEmpty {
      let piece = try piece(of: rest, isWhole: asOne)
      guard try send(piece, identity) else { return false }
      rest = rest.dropFirst(piece.count)
    }
    return true
  }

  /// Fails as changes would, without making them.
  func rehearse(
    _ changes: [DirectTransaction.Change], asOne: Bool
  ) throws(PreferencesError) {
    guard !changes.isEmpty else { return }
    try check(changes, asOne: asOne)
    _ = try knownIdentity()
    let (client, layout) = (store.client, store.layout)
    // The rights for a piece are those for all, unless a role opens single keys.
    let keys =
      [layout.writer(writer)] + changes.prefix(SharedUnit.greatestKeys).map { layout.key($0.key) }
    do throws(EtcdError) {
      try client.requireRights(toPut: keys, layout, deadline: deadline)
    } catch {
      throw unchanged(store.described(error, ofChange: true))
    }
  }

  // MARK: - Pieces

  private func check(
    _ changes: [DirectTransaction.Change], asOne: Bool
  ) throws(PreferencesError) {
    for change in changes { try check(change) }
    guard !asOne || changes.count <= SharedUnit.greatestKeys else {
      throw PreferencesError(
        .overQuota,
        "etcd changes at most \(SharedUnit.greatestKeys) keys as one, and these are "
          + "\(changes.count); nothing was changed")
    }
  }

  private func check(_ change: DirectTransaction.Change) throws(PreferencesError) {
    guard change.value != nil else { return }
    guard change.key.utf8.count <= quota.keyBytes else {
      throw PreferencesError(
        .overQuota,
        "the key '\(change.key)' has more than \(quota.keyBytes) bytes; nothing was changed")
    }
    guard try row(of: change).bytes.count <= quota.valueBytes else {
      throw PreferencesError(
        .overQuota,
        "the value of the key '\(change.key)' has more than 1 MiB; nothing was changed")
    }
  }

  private func row(of change: DirectTransaction.Change) throws(PreferencesError) -> SharedRow {
    try SharedRow(key: change.key, value: change.value, writer: writer, number: number + 1)
  }

  /// Returns the first changes, as many as one transaction takes, or all of them.
  private func piece(
    of changes: ArraySlice<DirectTransaction.Change>, isWhole: Bool
  ) throws(PreferencesError) -> [SharedUnit.Change] {
    var piece: [SharedUnit.Change] = []
    var bytes = 0
    for change in isWhole ? changes : changes.prefix(Self.greatestKeys) {
      let row = try row(of: change)
      bytes += row.bytes.count
      if !isWhole, !piece.isEmpty, bytes > Self.greatestBytes { break }
      piece.append(SharedUnit.Change(row: row, base: change.base.map { .row($0) } ?? .absent))
    }
    return piece
  }

  private func send(
    _ changes: [SharedUnit.Change], _ identity: [UInt8]
  ) throws(PreferencesError) -> Bool {
    let newRow = WriterRow.new(number: number + 1)
    let unit = UnitTransaction(
      layout: store.layout, identity: identity,
      unit: SharedUnit(
        writer: writer, number: number + 1, changes: changes, oldWriterRow: writerRow,
        newWriterRow: newRow, isTransaction: true))
    var transaction = unit.transaction
    transaction.success[0] = .put(
      key: store.layout.writer(writer), value: newRow, lease: try grantedLease())
    if namesMachine, let machine = try? MachineRow(name: store.machine).bytes() {
      transaction.success.append(
        .put(key: store.layout.machine(writer), value: machine, lease: try grantedLease()))
    }
    let answer: EtcdTransactionAnswer
    do throws(PreferencesError) {
      answer = try settled { try store.client.perform(transaction, deadline: $0) }
    } catch {
      // The user may be allowed to change some keys only.
      guard error.code == .accessDenied, namesMachine else { throw error }
      namesMachine = false
      return try send(changes, identity)
    }
    namesMachine = false
    switch unit.outcome(of: answer) {
    case .committed: break
    case .changed: return false
    case .foreign, .cloned, .restored: throw otherStore
    case .malformed:
      throw PreferencesError(EtcdError(.protocolViolation, "an answer lacks what was asked for"))
    }
    number += 1
    writerRow = newRow
    return true
  }

  // MARK: - The store and the writer

  /// Returns the row `id`; `nil` if there is no store yet.
  private func knownIdentity() throws(PreferencesError) -> [UInt8]? {
    if let identity = try store.identity(deadline) { return identity }
    let values = try store.reporting {
      try store.client.range(store.layout.values, limit: 1, deadline: deadline)
    }
    guard values.rows.isEmpty else { throw otherStore }
    return nil
  }

  /// Returns the row `id`, which the first writer of a store makes.
  private func identity() throws(PreferencesError) -> [UInt8] {
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

  private func grantedLease() throws(PreferencesError) -> Int64 {
    if let lease { return lease }
    // A lease too many ends by itself.
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

  /// Returns a failure before which nothing, or a known part, was changed.
  private func unchanged(_ error: PreferencesError) -> PreferencesError {
    let outcome = number == 0 ? "nothing was changed" : "only a part was changed"
    return PreferencesError(error.code, "\(error.message); \(outcome)")
  }

  /// Repeats a call until its outcome is known.
  ///
  /// The same transaction never has two effects: it compares the row of its writer, and changes it.
  private func settled<Answer>(
    _ body: (Deadline) throws -> Answer
  ) throws(PreferencesError) -> Answer {
    var mayHaveHappened = false
    while true {
      do {
        return try body(deadline.limited(by: Deadline(after: .seconds(5))))
      } catch let error as EtcdError {
        mayHaveHappened = mayHaveHappened || error.mayHaveHappened
        let isRepeatable = mayHaveHappened || error.code == .timedOut || error.code == .unreachable
        guard isRepeatable, !deadline.hasPassed else {
          throw mayHaveHappened
            ? .unsettled(error) : unchanged(store.described(error, ofChange: true))
        }
      } catch {
        throw .converting(error, "the shared store cannot be used")
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
