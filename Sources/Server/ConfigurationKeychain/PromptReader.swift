#if ConfigurationSupport
internal import Dispatch
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesSystem

/// Reads a vault for callers that block a thread of Swift's concurrency pool.
///
/// A call waits no longer than a moment for other processes, and for the vault to be unlocked again.
/// Unlocking can take longer, because a passphrase is hashed: it goes on in the background, once for all
/// callers, and they fail as *busy* meanwhile.
final class PromptReader: Sendable {
  private final class Unlocking: Sendable {
    let group = DispatchGroup()
    let outcome = PosixMutex<KeychainError?>(nil)
  }

  /// How long a call waits at most.
  static let time = Duration.milliseconds(100)

  private let vault: Vault
  private let current = PosixMutex<Unlocking?>(nil)

  init(_ vault: Vault) { self.vault = vault }

  func read<Success>(
    _ body: (Vault) throws(KeychainError) -> Success
  ) -> Result<Success, KeychainError> {
    Result { () throws(KeychainError) in try reading(body) }
  }

  private func reading<Success>(
    _ body: (Vault) throws(KeychainError) -> Success
  ) throws(KeychainError) -> Success {
    let end = DispatchTime.now() + .milliseconds(100)
    let question = PostponedQuestion()
    let prompt = vault.postponing(question, waiting: Self.time)
    while true {
      do throws(KeychainError) {
        return try body(prompt)
      } catch {
        guard let unlock = question.take() else {
          throw error.code == .timedOut ? .isInUse : error
        }
        try wait(for: unlocking(unlock), until: end)
      }
    }
  }

  /// Begins to unlock the vault, unless that has begun.
  private func unlocking(_ unlock: @escaping @Sendable () throws(KeychainError) -> Void) -> Unlocking {
    let (unlocking, isNew) = current.withLock { current in
      if let current { return (current, false) }
      let new = Unlocking()
      new.group.enter()
      current = new
      return (new, true)
    }
    guard isNew else { return unlocking }
    DispatchQueue.global().async { [self] in
      do throws(KeychainError) { try unlock() } catch { unlocking.outcome.withLock { $0 = error } }
      current.withLock { $0 = nil }
      unlocking.group.leave()
    }
    return unlocking
  }

  private func wait(for unlocking: Unlocking, until end: DispatchTime) throws(KeychainError) {
    guard unlocking.group.wait(timeout: end) == .success, .now() < end else {
      throw KeychainError(
        .busy, "the vault is being unlocked, which takes longer than a call without 'await' may wait",
        recovery: "try again, or fetch the value")
    }
    if let failure = unlocking.outcome.withLock({ $0 }) { throw failure }
  }
}

extension KeychainError {
  fileprivate static let isInUse = Self(
    .busy, "another process uses the vault for longer than a call without 'await' may wait",
    recovery: "try again, or fetch the value")
}
#endif
