package import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesEtcd
package import PrephirencesSystem

/// Watches a shared store on its own thread, without a copy on this machine.
package final class DirectWatch: Sendable {
  /// How long the cluster may be unreachable before the watch fails.
  private static let timeout: Duration = .seconds(60)

  private let store: DirectStore
  /// The UTF-8 of the keys, or `nil` for all.
  private let keys: Set<[UInt8]>?
  private let changed: @Sendable (PreferenceChange) -> Void
  private let unreadable: @Sendable (PreferenceKey, PreferencesError) -> Void
  private let cancellation = EtcdCancellation()

  /// Starts watching after the first read.
  ///
  /// `keys` is `nil` for all keys.
  package init(
    _ store: DirectStore, keys: [PreferenceKey]?, initial: Bool, until end: Deadline? = nil,
    failed: @escaping @Sendable (PreferencesError) -> Void,
    unreadable: @escaping @Sendable (PreferenceKey, PreferencesError) -> Void,
    changed: @escaping @Sendable (PreferenceChange) -> Void
  ) throws {
    self.store = store
    self.keys = keys.map { Set($0.map { Array($0.utf8) }) }
    self.changed = changed
    self.unreadable = unreadable
    let timeout = Deadline(after: DirectStore.timeout)
    let (rows, revision) = try store.snapshot(end.map(timeout.limited) ?? timeout)
    var known = Known(revision: revision)
    for row in rows where isMeant(row) {
      guard let value = readable(row) else { continue }
      known.values[Array(row.key.utf8)] = (row.key, value)
      if initial { changed(PreferenceChange(initial: row.key, value: value)) }
    }
    try DetachedThread.start(named: "shared-watch") { [self, known] in
      do {
        try follow(known)
      } catch let error as PreferencesError {
        failed(error)
      } catch let error as EtcdError {
        if error.code != .cancelled { failed(store.described(error)) }
      } catch {
        failed(.converting(error, "the shared store cannot be watched"))
      }
    }
  }

  /// Ends watching.
  package func cancel() { cancellation.cancel() }

  /// The values that were reported last.
  private struct Known: Sendable {
    var revision: Int64
    var values: [[UInt8]: (key: PreferenceKey, value: PreferenceValue?)] = [:]
  }

  private func isMeant(_ row: SharedRow) -> Bool { keys?.contains(Array(row.key.utf8)) ?? true }

  /// Follows the changes until the watch is cancelled, or fails for ``timeout``.
  private func follow(_ start: Known) throws {
    var known = start
    var end = Deadline(after: Self.timeout)
    var isBehind = false
    while true {
      var hasBegun = false
      do {
        if isBehind { try reread(&known) }
        isBehind = false
        try store.client.watch(
          store.layout.values, from: known.revision + 1, cancellation: cancellation,
          began: { _ in hasBegun = true }
        ) { events in
          for event in events.events {
            guard let row = store.sharedRow(event.row), isMeant(row) else { continue }
            report(row, isRemoval: event.isRemoval, &known)
          }
          known.revision = max(known.revision, events.header.revision)
        }
      } catch {
        // After a lost connection, the server may be another one, or restored.
        isBehind = true
        if hasBegun { end = Deadline(after: Self.timeout) }
        guard Self.passes(error), !end.hasPassed else { throw error }
        Deadline.pause(upTo: 1000)
      }
    }
  }

  /// Whether a failure may be temporary.
  private static func passes(_ error: any Error) -> Bool {
    switch error {
    case let error as EtcdError:
      [.unreachable, .timedOut, .compacted].contains(error.code)
    case let error as PreferencesError: [.unreachable, .timedOut, .conflict].contains(error.code)
    default: false
    }
  }

  /// Reports what has changed in the part of the history that the server has compacted.
  private func reread(_ known: inout Known) throws {
    let (rows, revision) = try store.snapshot(Deadline(after: DirectStore.timeout))
    var gone = known.values
    for row in rows where isMeant(row) {
      gone[Array(row.key.utf8)] = nil
      report(row, isRemoval: false, &known)
    }
    for (key, _) in gone.values { report(key, nil, &known) }
    known.revision = revision
  }

  private func report(_ row: SharedRow, isRemoval: Bool, _ known: inout Known) {
    if isRemoval { return report(row.key, nil, &known) }
    if let value = readable(row) { report(row.key, value, &known) }
  }

  /// Returns the value of a row, or reports why it cannot be read and returns `nil`.
  private func readable(_ row: SharedRow) -> PreferenceValue?? {
    do throws(PreferencesError) {
      return .some(try row.storedValue())
    } catch {
      unreadable(row.key, error)
      return nil
    }
  }

  private func report(_ key: PreferenceKey, _ value: PreferenceValue?, _ known: inout Known) {
    let bytes = Array(key.utf8)
    let old = known.values.updateValue((key, value), forKey: bytes)?.value
    let change = PreferenceChange(key, from: old?.object, to: value?.object)
    if change.isReportable { changed(change) }
  }
}
