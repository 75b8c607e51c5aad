internal import PrephirencesSystem

/// Keeps a few connections for the next calls, and has no more of them at a time.
///
/// Hundreds of suites that begin together, or lose their cluster together, would need as many
/// descriptors and logins to TLS.
final class TransferPool: Sendable {
  private static let greatestCount = 8

  private struct State {
    var idle: [Transfer] = []
    /// How many calls have a turn, and who waits for one.
    var turns = 0
    var waiting: [Waiting] = []
  }

  private let state = PosixMutex(State())

  /// Runs a call on a connection of its own, which is kept for the next if it worked.
  ///
  /// After an answer that isn't etcd's, nobody knows what comes next on the connection.
  ///
  /// - Parameters:
  ///   - deadline: How long to wait at most while others have all connections.
  ///   - cancellation: What ends that.
  ///   - failure: What the failure to get a connection is for the caller.
  ///   - body: The call.
  /// - Returns: What the call returns.
  /// - Throws: What the call throws, or the failure.
  func with<Result, Failure>(
    _ deadline: Deadline, _ cancellation: EtcdCancellation?, failure: (EtcdError) -> Failure,
    _ body: (Transfer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    do throws(EtcdError) {
      // Before the lock, which a fork may have left locked.
      try ForkGuard.check()
      try awaitTurn(deadline, cancellation)
    } catch { throw failure(error) }
    var used: Transfer?
    defer { endTurn(used) }
    let transfer: Transfer
    do throws(EtcdError) { transfer = try take() } catch { throw failure(error) }
    let result = try body(transfer)
    used = transfer
    return result
  }

  private func take() throws(EtcdError) -> Transfer {
    if let kept = state.withLock({ $0.idle.popLast() }) { return kept }
    return try Transfer()
  }

  private func awaitTurn(
    _ deadline: Deadline, _ cancellation: EtcdCancellation?
  ) throws(EtcdError) {
    let waiting: Waiting? = state.withLock { state in
      guard state.turns == Self.greatestCount else {
        state.turns += 1
        return nil
      }
      let waiting = Waiting()
      state.waiting.append(waiting)
      return waiting
    }
    guard let waiting else { return }
    do throws(EtcdError) {
      guard try waiting.wait(deadline, cancellation) else { throw EtcdError.timedOut }
    } catch {
      let hasTurn = state.withLock { state in
        guard let index = state.waiting.firstIndex(where: { $0 === waiting }) else { return true }
        state.waiting.remove(at: index)
        return false
      }
      if hasTurn { endTurn(nil) }
      throw error
    }
  }

  /// Gives the turn to who waits longest.
  private func endTurn(_ transfer: Transfer?) {
    // A forked child has no other threads, and perhaps a lock that one of them held.
    guard !ForkGuard.isForked else { return }
    let next: Waiting? = state.withLock { state in
      if let transfer { state.idle.append(transfer) }
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.turns -= 1
      return nil
    }
    next?.end()
  }
}
