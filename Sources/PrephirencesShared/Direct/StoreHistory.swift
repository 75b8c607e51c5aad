package import Prephirences
internal import PrephirencesDurable
internal import PrephirencesEtcd
internal import PrephirencesFiles

/// Goes back through the changes of a store, as far as the engine keeps them.
///
/// A change takes about three calls, and no memory is kept between two.
package struct StoreHistory {
  private let store: DirectStore
  private let rows: EtcdKeys

  /// What is looked at next; `nil` before the first look, and 0 after the last change.
  private var revision: Int64?

  /// Whether the engine has compacted what came before the last change that was returned.
  package private(set) var isCompacted = false

  /// - Parameters:
  ///   - store: The store.
  ///   - key: The key whose changes are asked for; `nil` for all.
  package init(_ store: DirectStore, key: PreferenceKey? = nil) {
    self.store = store
    rows = key.map { .one(store.layout.key($0)) } ?? store.values
  }

  private var deadline: Deadline { Deadline(after: store.patience) }

  /// Returns the change before the last one that was returned, beginning with the newest; `nil` if
  /// there is none, or the engine has compacted it.
  package mutating func next() throws(PreferencesError) -> StoreTransaction? {
    do {
      while let change = try step() {
        if !change.hasOld { (isCompacted, revision) = (true, 0) }
        // Who collects removals changes no value.
        let isVisible = change.changes.contains { $0.new != nil || $0.old?.isRemoval != true }
        if isVisible { return change }
      }
      return nil
    } catch let error as EtcdError where error.code == .compacted {
      (isCompacted, revision) = (true, 0)
      return nil
    } catch {
      throw (error as? EtcdError).map { PreferencesError($0) }
        ?? .converting(error, "the history of the shared store cannot be read")
    }
  }

  private mutating func step() throws -> StoreTransaction? {
    if revision == nil {
      revision = try store.client.range(
        .one(store.layout.identity), deadline: deadline
      ).header.revision
    }
    guard let now = revision, now > 0 else { return nil }
    let newest = try store.client.newest(rows, revision: now, deadline: deadline)
    if let last = newest.rows.first?.modRevision {
      let then = try store.client.changed(rows, in: last, deadline: deadline)
      // Nothing was put since, so rows can only have been deleted.
      if then.count > newest.count { return try deletion(between: last, and: now, newest.count) }
      revision = last - 1
      return try transaction(last, then.rows)
    }
    guard let last = try lastRevisionWithRows(before: now) else {
      revision = 0
      return nil
    }
    return try deletion(between: last, and: now, 0)
  }

  // MARK: - Deletions, which leave no row

  private func count(_ revision: Int64) throws(EtcdError) -> Int64 {
    try store.client.names(rows, revision: revision, limit: 1, deadline: deadline).count
  }

  private func lastRevisionWithRows(before end: Int64) throws(EtcdError) -> Int64? {
    var distance: Int64 = 1
    while distance < end {
      if try count(end - distance) > 0 { return end - distance }
      distance *= 2
    }
    return nil
  }

  /// Finds the last deletion between a revision that has more rows, and one that has so many.
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

  /// Returns what a revision has deleted.
  private func deletion(_ revision: Int64) throws -> StoreTransaction {
    let before = try store.client.names(rows, revision: revision - 1, deadline: deadline)
    let after = try store.client.names(rows, revision: revision, deadline: deadline)
    let left = Set(after.rows.map(\.key))
    let keys = before.rows.filter { !left.contains($0.key) }.compactMap { store.sharedRow($0)?.key }
    return StoreTransaction(
      revision: revision,
      changes: try old(keys, revision).map { .init(key: $0.key, old: $0.row, new: nil) },
      hasOld: true)
  }

  // MARK: - Transactions

  /// Returns what a revision has changed in a store; `nil` if nothing.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/notFound`` if the engine does not
  ///   have the revision, or not what was there before it.
  package static func transaction(
    _ revision: Int64, of store: DirectStore
  ) throws(PreferencesError) -> StoreTransaction? {
    let history = StoreHistory(store)
    do {
      let newest = try store.client.range(
        .one(store.layout.identity), deadline: history.deadline
      ).header.revision
      guard revision > 0, revision <= newest else { return nil }
      let rows = try store.client.changed(store.values, in: revision, deadline: history.deadline)
        .rows
      let found =
        try rows.isEmpty ? history.deletion(revision) : history.transaction(revision, rows)
      return found.changes.isEmpty ? nil : found
    } catch let error as EtcdError where error.code == .compacted {
      throw PreferencesError(
        .notFound, "etcd has compacted revision \(revision), and what was there before it")
    } catch {
      throw (error as? EtcdError).map { PreferencesError($0) }
        ?? .converting(error, "the history of the shared store cannot be read")
    }
  }

  private func transaction(_ revision: Int64, _ rows: [EtcdRow]) throws -> StoreTransaction {
    let new = rows.compactMap(store.sharedRow)
    var old: [[UInt8]: SharedRow] = [:]
    var hasOld = true
    do {
      for (key, row) in try self.old(new.map(\.key), revision) { old[Array(key.utf8)] = row }
    } catch let error as EtcdError where error.code == .compacted {
      hasOld = false
    }
    var transaction = StoreTransaction(
      revision: revision,
      changes: new.map { .init(key: $0.key, old: old[Array($0.key.utf8)], new: $0) },
      hasOld: hasOld)
    guard let writer = new.lazy.compactMap(\.writer).first else { return transaction }
    let (layout, client) = (store.layout, store.client)
    let answer = try client.perform(
      EtcdTransaction(success: [
        .range(.one(layout.writer(writer)), revision: revision),
        .range(.one(layout.machine(writer)), revision: revision),
        .range(.one(layout.machine(writer))),
      ]), deadline: deadline)
    let found = answer.responses.map { response -> EtcdRow? in
      if case .range(let rows) = response { rows.first } else { nil }
    }
    // Who copies a row with another tool is not its writer.
    guard found.count == 3, let row = found[0], row.modRevision == revision else {
      return transaction
    }
    transaction.writer = writer
    transaction.date = WriterRow.date(row.value)
    let machine = found[1] ?? found[2]
    transaction.machine = machine.flatMap { row in MachineRow(row.value)?.name }
    return transaction
  }

  /// Returns the rows of keys before a revision, by as few calls as etcd allows.
  private func old(
    _ keys: [PreferenceKey], _ revision: Int64
  ) throws -> [(key: PreferenceKey, row: SharedRow?)] {
    var found: [(key: PreferenceKey, row: SharedRow?)] = []
    var rest = keys[...]
    while !rest.isEmpty {
      let piece = rest.prefix(SharedUnit.greatestKeys)
      rest = rest.dropFirst(piece.count)
      let answer = try store.client.perform(
        EtcdTransaction(
          success: piece.map { .range(.one(store.layout.key($0)), revision: revision - 1) }),
        deadline: deadline)
      for (key, response) in zip(piece, answer.responses) {
        guard case .range(let rows) = response else { continue }
        found.append((key, rows.first.flatMap(store.sharedRow)))
      }
    }
    return found
  }
}

extension SharedRow {
  /// Whether the row says that the key was removed.
  fileprivate var isRemoval: Bool { if case .removal = content { true } else { false } }
}
