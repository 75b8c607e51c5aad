package import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// Goes back through the changes of a store, as far as the server keeps them.
///
/// A change takes about four calls, and memory does not grow with the history. For one key, its row
/// is followed back until it was created.
package struct StoreHistory {
  /// How many changes are searched for the last one of a key without a row.
  package static let greatestSearch = 1000

  private let store: DirectStore
  private let key: PreferenceKey?

  /// The next revision to look at; `nil` before the first, and 0 at the end.
  private var revision: Int64?
  private var hasFound = false

  /// Whether older changes were not searched.
  package private(set) var isCut = false

  /// Whether the server has compacted the changes before the last one that was returned.
  package private(set) var isCompacted = false

  /// `key` is `nil` for all keys.
  package init(_ store: DirectStore, key: PreferenceKey? = nil) {
    self.store = store
    self.key = key
  }

  private var deadline: Deadline { Deadline(after: store.timeout) }

  /// Returns the newest change, and with each call the one before; returns `nil` if there is none,
  /// or if the server has compacted it.
  package mutating func next() throws(PreferencesError) -> StoreTransaction? {
    do {
      var rest = Self.greatestSearch
      while revision != 0, rest > 0 {
        guard let change = try step() else { continue }
        if !change.hasOld { (isCompacted, revision) = (true, 0) }
        rest -= 1
        guard change.changes.contains(where: isMeant) else { continue }
        hasFound = true
        return change
      }
      isCut = revision != 0
      return nil
    } catch let error as EtcdError where error.code == .compacted {
      (isCompacted, revision) = (true, 0)
      return nil
    } catch {
      return try store.reporting { throw error }
    }
  }

  /// Whether a change is wanted: collecting removals changes no value.
  private func isMeant(_ change: StoreTransaction.Change) -> Bool {
    (change.new != nil || change.old?.isRemoval != true)
      && key?.utf8.elementsEqual(change.key.utf8) ?? true
  }

  /// Returns the last change before a revision, or `nil` if there is none or it changes no value.
  private mutating func step() throws -> StoreTransaction? {
    let now = try revision ?? newestRevision()
    revision = now
    guard let key else { return try stepOfAll(now) }
    let row = EtcdKeys.one(store.layout.key(key))
    let newest = try store.client.newest(row, revision: now, deadline: deadline)
    guard let last = newest.rows.first?.modRevision else {
      if hasFound { revision = 0 }
      return hasFound ? nil : try stepOfAll(now)
    }
    revision = last - 1
    return try transaction(
      last, try store.client.changed(row, in: last, deadline: deadline).rows)
  }

  private mutating func stepOfAll(_ now: Int64) throws -> StoreTransaction? {
    // Includes the rows of writers: they remain if a value was set and then deleted by others.
    let newest = try store.client.newest(store.layout.all, revision: now, deadline: deadline)
    let found = try newest.rows.first?.modRevision ?? lastRevisionWithRows(before: now)
    guard let last = found else {
      revision = 0
      return nil
    }
    // Nothing was put since, so rows can only have been deleted.
    let then = try store.client.changed(store.layout.values, in: last, deadline: deadline)
    let left = try last == now ? then.count : count(now)
    if then.count > left { return try deletion(between: last, and: now, left) }
    revision = last - 1
    return then.rows.isEmpty ? nil : try transaction(last, then.rows)
  }

  private func newestRevision() throws -> Int64 {
    try store.client.range(.one(store.layout.identity), deadline: deadline).header.revision
  }

  // MARK: - Deletions, which leave no row

  private func count(_ revision: Int64) throws -> Int64 {
    try store.client.names(store.layout.values, revision: revision, limit: 1, deadline: deadline)
      .count
  }

  /// Finds the last revision with rows, if now there are none.
  private func lastRevisionWithRows(before end: Int64) throws -> Int64? {
    var distance: Int64 = 1
    while distance < end {
      if try count(end - distance) > 0 { return end - distance }
      distance *= 2
    }
    return nil
  }

  /// Finds the last deletion between two revisions, of which the first has more rows.
  private mutating func deletion(
    between first: Int64, and last: Int64, _ least: Int64
  ) throws -> StoreTransaction? {
    var (before, after) = (first, last)
    while after - before > 1 {
      let middle = before + (after - before) / 2
      if try count(middle) == least { after = middle } else { before = middle }
    }
    revision = before
    return try deletion(after)
  }

  private func deletion(_ revision: Int64) throws -> StoreTransaction {
    StoreTransaction(revision: revision, changes: try deleted(revision), hasOld: true)
  }

  /// Returns the rows that a revision has deleted.
  private func deleted(_ revision: Int64) throws -> [StoreTransaction.Change] {
    let before = try store.client.names(
      store.layout.values, revision: revision - 1, deadline: deadline)
    let after = try store.client.names(store.layout.values, revision: revision, deadline: deadline)
    let left = Set(after.rows.map(\.key))
    let keys = before.rows.filter { !left.contains($0.key) }.compactMap { store.sharedRow($0)?.key }
    return try zip(keys, old(keys, revision)).map { .init(key: $0, old: $1, new: nil) }
  }

  // MARK: - Transactions

  /// Returns what a revision has changed in a store, or `nil` if nothing.
  package static func transaction(
    _ revision: Int64, of store: DirectStore
  ) throws(PreferencesError) -> StoreTransaction? {
    let history = StoreHistory(store)
    do {
      // The first revision is that of an empty engine. For revision 0, etcd answers as of now.
      guard try revision > 1 && revision <= history.newestRevision() else { return nil }
      let rows = try store.client.changed(
        store.layout.values, in: revision, deadline: history.deadline
      )
      .rows
      let found =
        try rows.isEmpty ? history.deletion(revision) : history.transaction(revision, rows)
      return found.changes.contains(where: history.isMeant) ? found : nil
    } catch let error as EtcdError where error.code == .compacted {
      throw PreferencesError(
        .notFound, "etcd has compacted revision \(revision), and what was there before it")
    } catch {
      return try store.reporting { throw error }
    }
  }

  private func transaction(_ revision: Int64, _ rows: [EtcdRow]) throws -> StoreTransaction {
    let new = rows.compactMap(store.sharedRow)
    var old: [SharedRow?] = []
    var hasOld = true
    do {
      old = try self.old(new.map(\.key), revision)
    } catch let error as EtcdError where error.code == .compacted {
      hasOld = false
    }
    var transaction = StoreTransaction(
      revision: revision,
      changes: new.indices.map { index in
        .init(key: new[index].key, old: hasOld ? old[index] : nil, new: new[index])
      }, hasOld: hasOld)
    guard let found = try writer(of: revision) else {
      // Only other tools delete rows and put others in one revision.
      if hasOld { transaction.changes += try deleted(revision) }
      return transaction
    }
    transaction.writer = found.tag
    transaction.date = WriterRow.date(found.row)
    transaction.machine = found.machine.flatMap { MachineRow($0)?.name }
    let original = Set(new.filter(\.isSentAgain).compactMap(\.writer))
    for tag in original {
      let row = try ranges([.range(.one(store.layout.machine(tag)))])[0]
      transaction.originalMachines[tag] = row.flatMap { MachineRow($0.value)?.name }
    }
    return transaction
  }

  /// Returns who has sent a revision, with the rows of the writer and its machine; returns `nil`
  /// for another tool, which puts no row of a writer.
  private func writer(
    of revision: Int64
  ) throws -> (tag: WriterTag, row: [UInt8], machine: [UInt8]?)? {
    let layout = store.layout
    let rows = try store.client.changed(layout.writers, in: revision, deadline: deadline).rows
    guard let row = rows.first, case .writer(let writer) = layout.name(of: row.key) else {
      return nil
    }
    let found = try ranges([
      .range(.one(layout.machine(writer)), revision: revision),
      .range(.one(layout.machine(writer))),
    ])
    return (writer, row.value, (found[0] ?? found[1])?.value)
  }

  /// Returns the rows of keys before a revision, in as few calls as etcd allows.
  private func old(_ keys: [PreferenceKey], _ revision: Int64) throws -> [SharedRow?] {
    var found: [SharedRow?] = []
    while found.count < keys.count {
      let piece = keys.dropFirst(found.count).prefix(SharedBatch.greatestKeys)
      found += try ranges(
        piece.map { .range(.one(store.layout.key($0)), revision: revision - 1) }
      ).map { row in row.flatMap(store.sharedRow) }
    }
    return found
  }

  /// Returns the first row of each range, in one call.
  private func ranges(_ ranges: [EtcdOperation]) throws -> [EtcdRow?] {
    let answer = try store.client.perform(EtcdTransaction(success: ranges), deadline: deadline)
    guard answer.succeeded else {
      throw EtcdError(.protocolViolation, "an answer lacks what was asked for")
    }
    return answer.responses.map { response in
      if case .range(let rows) = response { rows.first } else { nil }
    }
  }
}

extension SharedRow {
  fileprivate var isRemoval: Bool { if case .removal = content { true } else { false } }
}
