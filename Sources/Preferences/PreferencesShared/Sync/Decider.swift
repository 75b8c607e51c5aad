internal import PreferencesDurable
internal import Prephirences

/// Asks the program's closure how conflicts end.
struct Decider {
  let core: SyncCore
  let resolver: SyncWorker.Resolver

  /// When to ask again about a conflict that was not decided.
  private struct Retry {
    var backoff = Backoff(from: .seconds(1), to: .seconds(60))
    var time = ContinuousClock.now
  }

  private var signals: SyncSignals { core.signals }

  func run() {
    var retries: [[UInt8]: Retry] = [:]
    var wakes = 0
    while case let state = signals.read({ $0 }), !state.isStopping {
      if state.wakes != wakes { retries = [:] }
      wakes = state.wakes
      let conflicts = (try? core.replica.conflicts()) ?? []
      let tokens = Set(conflicts.map(\.token))
      retries = retries.filter { tokens.contains($0.key) }
      for conflict in conflicts {
        var retry = retries[conflict.token] ?? Retry()
        guard retry.time <= .now else { continue }
        guard !signals.read({ $0.isStopping }) else { return }
        guard !decide(conflict) else { continue }
        retry.time = .now + retry.backoff.delay()
        retries[conflict.token] = retry
      }
      // What was not decided is tried again, but not without a rest.
      let next = retries.values.map(\.time).min()
      signals.wait(next.map { ContinuousClock.now.duration(to: $0) }) { now in
        now.isStopping || now.wakes != wakes || now.fileChanges != state.fileChanges
      }
    }
  }

  /// - Returns: Whether the conflict is decided; otherwise the file says why, if it can.
  private func decide(_ conflict: ReplicaConflict) -> Bool {
    let decision: ReplicaDecision
    // The closure may take its time.
    signals.rest()
    defer { signals.advance() }
    do {
      decision = try resolver(conflict)
    } catch {
      return postpone(conflict, Self.reason(error))
    }
    do throws(PreferencesError) {
      // If something has changed since, the conflict is listed again, with another token.
      _ = try core.replica.resolve(conflict, decision)
      return true
    } catch {
      return postpone(conflict, "what the closure decided cannot be set: \(error.message)")
    }
  }

  private func postpone(_ conflict: ReplicaConflict, _ message: String) -> Bool {
    if conflict.message != message { try? core.replica.postpone(conflict, message) }
    return false
  }

  private static func reason(_ error: any Error) -> String {
    if let error = error as? any PreferencesErrorConvertible {
      return error.preferencesError.message
    }
    return "the closure that decides threw an error of type \(type(of: error))"
  }
}
