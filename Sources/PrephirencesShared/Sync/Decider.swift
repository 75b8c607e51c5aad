internal import Prephirences
internal import PrephirencesDurable

/// Asks the program's closure how conflicts end.
struct Decider {
  let core: SyncCore
  let resolver: SyncWorker.Resolver

  private var signals: SyncSignals { core.signals }

  func run() {
    /// The conflicts for which the closure has thrown; they are asked for again if somebody wants.
    var failed: Set<[UInt8]> = []
    var wakes = 0
    while case let state = signals.read({ $0 }), !state.isStopping {
      if state.wakes != wakes { failed = [] }
      wakes = state.wakes
      let conflicts = (try? core.replica.conflicts()) ?? []
      failed.formIntersection(conflicts.map(\.token))
      var isSettled = true
      for conflict in conflicts where !failed.contains(conflict.token) {
        guard !signals.read({ $0.isStopping }) else { return }
        if !decide(conflict, &failed) { isSettled = false }
      }
      // What was not settled is tried again, but not without a rest.
      signals.wait(isSettled ? nil : .seconds(1)) { now in
        now.isStopping || now.wakes != wakes || isSettled && now.fileChanges != state.fileChanges
      }
    }
  }

  /// - Returns: Whether the conflict is decided, or waits for a person.
  private func decide(_ conflict: ReplicaConflict, _ failed: inout Set<[UInt8]>) -> Bool {
    let decision: ReplicaDecision
    do {
      decision = try resolver(conflict)
    } catch {
      failed.insert(conflict.token)
      let error = PreferencesError.converting(error, "the decision on a conflict")
      return (try? core.replica.postpone(conflict, error.message)) != nil
    }
    // If something has changed since, the conflict is listed again, with another token.
    return (try? core.replica.resolve(conflict, decision)) != nil
  }
}
