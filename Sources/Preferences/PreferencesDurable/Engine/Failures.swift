internal import PreferencesCore
internal import PrephirencesSystem
internal import Synchronization

/// The failures of calls that don't throw, and their observers.
final class Failures: Sendable {
  private struct State {
    var error: PreferencesError?
    var handlers: [Int: @Sendable (PreferencesError) -> Void] = [:]
    var count = 0
  }

  private let state = PosixMutex(State())

  /// Whether there is an error, so that success needs no lock.
  private let hasError = Atomic(false)

  var last: PreferencesError? { state.withLock(\.error) }

  func clear() {
    guard hasError.load(ordering: .relaxed) else { return }
    state.withLock { state in
      state.error = nil
      hasError.store(false, ordering: .relaxed)
    }
  }

  func record(_ error: PreferencesError) {
    let handlers = state.withLock { state in
      state.error = error
      hasError.store(true, ordering: .relaxed)
      return Array(state.handlers.values)
    }
    for handler in handlers { handler(error) }
  }

  func observe(_ handler: @escaping @Sendable (PreferencesError) -> Void) -> PreferenceObservation {
    let number = state.withLock { state in
      state.count += 1
      state.handlers[state.count] = handler
      return state.count
    }
    return PreferenceObservation { [weak self] in
      self?.state.withLock { _ = $0.handlers.removeValue(forKey: number) }
    }
  }
}
