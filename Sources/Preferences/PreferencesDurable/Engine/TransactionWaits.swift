internal import PrephirencesSystem

/// The threads that wait for the transactions of other threads.
///
/// Two transactions that wait for each other would time out. This finds them within one process.
///
/// It is used under a lock that the thread sanitizer knows.
final class TransactionWaits: Sendable {
  static let shared = TransactionWaits()

  private let waits = PosixMutex<[UInt: Engine]>([:])

  /// Calls a closure that waits for an engine, unless the engine's transaction waits for this
  /// thread.
  ///
  /// Returns `nil` if it was not called.
  func perform(_ thread: UInt, for engine: Engine, _ wait: () -> Bool) -> Bool? {
    let isEndless = waits.withLock { waits in
      var next = Optional(engine)
      // At most once for each waiting thread.
      for _ in 0...waits.count {
        guard let owner = next?.transactionOwner, owner != 0 else { break }
        if owner == thread { return true }
        next = waits[owner]
      }
      waits[thread] = engine
      return false
    }
    guard !isEndless else { return nil }
    defer { waits.withLock { $0[thread] = nil } }
    return wait()
  }
}
