internal import PrephirencesFiles

/// Keeps one connection for the next call.
final class TransferPool: Sendable {
  private let idle = PosixMutex<Transfer?>(nil)

  /// Runs a call on a connection of its own, which is kept for the next if it worked.
  ///
  /// After an answer that isn't etcd's, nobody knows what comes next on the connection.
  func with<Result>(_ body: (Transfer) throws(Refusal) -> Result) throws(Refusal) -> Result {
    let transfer = try take()
    let result = try body(transfer)
    // The other one is closed outside the lock.
    let surplus = idle.withLock { idle in
      defer { idle = transfer }
      return idle
    }
    _ = surplus
    return result
  }

  private func take() throws(Refusal) -> Transfer {
    do throws(EtcdError) {
      // Before the lock, which a fork may have left locked.
      try ForkGuard.check()
      let kept = idle.withLock { idle in
        defer { idle = nil }
        return idle
      }
      return if let kept { kept } else { try Transfer() }
    } catch { throw Refusal(transport: error) }
  }
}
