internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesSystem
internal import Synchronization

extension ExternalMonitor {
  func look(_ run: MonitorRun) {
    do {
      for change in try newChanges(run) {
        for handler in state.withLock({ Array($0.changes.values) }) { handler(change) }
      }
      guard state.withLock({ !$0.failures.isEmpty }) else { return }
      try lookForFailures()
    } catch {
      report(.converting(error, "changes of other machines cannot be read"))
    }
  }

  private func newChanges(_ run: MonitorRun) throws -> [SharedPreferences.ExternalChange] {
    let last = run.lastEntry.load(ordering: .relaxed)
    if let entries = try replica.journal(after: last) {
      run.lastEntry.store(entries.last?.number ?? last, ordering: .relaxed)
      var changes = GroupedChanges()
      changes.add(entries)
      return changes.all
    }
    // So many that the oldest are forgotten: any key may be among them.
    let newest = try replica.lastJournalEntry()
    // A smaller number is one of a journal that was begun anew.
    let losses = try replica.losses(after: newest < last ? 0 : last)
    run.lastEntry.store(newest, ordering: .relaxed)
    var changes = GroupedChanges()
    changes.add(losses)
    let keys = replica.preferences.pairs().map(\.0)
    return changes.all
      + [SharedPreferences.ExternalChange(reason: .serverChange, keys: keys, lostValues: [])]
  }

  private func lookForFailures() throws {
    let present = try replica.state()
    if let failure = present.report.flatMap(PreferencesError.init) {
      report(failure)
    } else {
      state.withLock { $0.failure = nil }
    }
    let conflicts = present.unsentKeys > 0 ? try replica.conflicts() : []
    // What waits for a closure without having failed is no failure.
    let waiting = SharedPreferences.Waiting.all(present, conflicts.filter { $0.message != nil })
    let (new, handlers) = state.withLock { state in
      defer { state.known = Set(waiting) }
      return (waiting.filter { !state.known.contains($0) }, Array(state.failures.values))
    }
    for failure in new.map(PreferencesError.init) {
      for handler in handlers { handler(failure) }
    }
  }
}

extension PreferencesError {
  /// Why changes wait.
  init(_ waiting: SharedPreferences.Waiting) {
    let code: Code =
      switch waiting.reason {
      case .decision: .conflict
      case .permission: .accessDenied
      case .newerRelease: .unsupportedFormat
      case .damage: .damaged
      case .size, .space: .overQuota
      }
    let keys = waiting.keys.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
    let more = waiting.keys.count > 3 ? " and \(waiting.keys.count - 3) more" : ""
    self.init(
      code, "changes of \(keys)\(more) are not sent: \(waiting.message ?? "they wait")")
  }
}
