internal import PrephirencesSystem

/// Ends calls from another thread.
package final class EtcdCancellation: Sendable {
  private struct State {
    var isCancelled = false
    var number = 0
    /// What wakes the calls that have this object.
    var wakes: [Int: @Sendable () -> Void] = [:]
  }

  private let state = PosixMutex(State())

  package init() {}

  /// Makes the calls that have this object end with ``EtcdError/Code/cancelled``, now and later.
  package func cancel() {
    state.withLock { state in
      state.isCancelled = true
      // Under the lock, so that no call ends, and frees what it waits on, meanwhile.
      for wake in state.wakes.values { wake() }
    }
  }

  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Runs code that `wake` ends early; it must be possible to call it at any time, and it must not
  /// wait.
  func waking<Result, Failure: Error>(
    by wake: @escaping @Sendable () -> Void, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
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
  /// - Throws: ``EtcdError/Code/cancelled``.
  func check() throws(EtcdError) {
    if let self, self.isCancelled { throw .cancelled }
  }
}

extension EtcdError {
  static let cancelled = EtcdError(.cancelled, "the call was cancelled")
  static let timedOut = EtcdError(.timedOut, "etcd did not answer in time")
}
