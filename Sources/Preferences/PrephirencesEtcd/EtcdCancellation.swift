internal import PrephirencesSystem

/// Cancels calls from another thread.
package final class EtcdCancellation: Sendable {
  private struct State {
    var isCancelled = false
    var number = 0
    /// The closures that wake the calls with this object.
    var wakes: [Int: @Sendable () -> Void] = [:]
  }

  private let state = PosixMutex(State())

  package init() {}

  /// Ends present and future calls with this object with ``EtcdError/Code/cancelled``.
  package func cancel() {
    state.withLock { state in
      state.isCancelled = true
      // Under the lock, so that no call ends meanwhile and frees what it waits on.
      for wake in state.wakes.values { wake() }
    }
  }

  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Runs code that `wake` ends early; `wake` may be called at any time and must not wait.
  func waking<Result>(
    by wake: @escaping @Sendable () -> Void, _ body: () throws -> Result
  ) rethrows -> Result {
    let number = state.withLock { state in
      state.number += 1
      state.wakes[state.number] = wake
      if state.isCancelled { wake() }
      return state.number
    }
    defer { state.withLock { $0.wakes[number] = nil } }
    return try body()
  }
}

extension EtcdCancellation? {
  func check() throws {
    if let self, self.isCancelled { throw EtcdError.cancelled }
  }
}
