internal import PrephirencesFiles

/// Keeps one connection for the next call.
final class TransferPool: Sendable {
  private let idle = PosixMutex<Transfer?>(nil)

  /// Runs a call on a connection of its own, which is kept for the next if it worked.
  func with<Result>(_ body: (Transfer) throws(EtcdError) -> Result) throws(EtcdError) -> Result {
    // Before the lock, which a fork may have left locked.
    try ForkGuard.check()
    let kept = idle.withLock { idle in
      defer { idle = nil }
      return idle
    }
    let transfer: Transfer
    if let kept { transfer = kept } else { transfer = try Transfer() }
    let result = try body(transfer)
    // The other one is closed outside the lock.
    let surplus = idle.withLock { idle in
      defer { idle = transfer }
      return idle
    }
    _ = surplus
    return result
  }
}
