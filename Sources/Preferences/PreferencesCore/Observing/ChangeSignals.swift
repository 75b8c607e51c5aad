internal import PrephirencesSystem
internal import Synchronization

/// Reports that something has changed, without saying what; a store need not find out which values
/// were replaced.
package final class ChangeSignals: Sendable {
  private struct State {
    var handlers: [Int: @Sendable () -> Void] = [:]
    var lastNumber = 0
  }

  private let state = PosixMutex(State())
  private let count = Atomic(0)
  private let isPosted = Atomic(false)

  /// Whether nobody wants to know.
  package var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  /// Calls a closure after changes; several that are posted before the delivery are one.
  package func add(_ handler: @escaping @Sendable () -> Void) -> PreferenceObservation {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.handlers[state.lastNumber] = handler
      return state.lastNumber
    }
    count.add(1, ordering: .sequentiallyConsistent)
    return PreferenceObservation { [weak self] in
      guard let self else { return }
      count.subtract(1, ordering: .sequentiallyConsistent)
      _ = state.withLock { $0.handlers.removeValue(forKey: number) }
    }
  }

  /// Records a change; the caller may hold a lock.
  package func post() {
    if !isEmpty { isPosted.store(true, ordering: .sequentiallyConsistent) }
  }

  /// Delivers a recorded change; the caller must not hold a lock.
  func deliver() {
    guard !isEmpty, isPosted.exchange(false, ordering: .sequentiallyConsistent) else { return }
    for handler in state.withLock({ Array($0.handlers.values) }) { handler() }
  }
}
