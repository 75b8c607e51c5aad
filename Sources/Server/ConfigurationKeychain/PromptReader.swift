#if ConfigurationSupport
internal import Dispatch
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesSystem
internal import SystemPackage

/// Reads a vault for callers that block a thread of Swift's concurrency pool.
///
/// A call waits at most a moment for other processes, and for the vault to be unlocked again.
/// Unlocking can take longer, because a passphrase is hashed: it continues in the background, once
/// for all callers, which meanwhile fail as *busy*.
final class PromptReader: Sendable {
  private final class Unlocking: Sendable {
    let group = DispatchGroup()
    let failure = PosixMutex<KeychainError?>(nil)
  }

  private struct State {
    var unlocking: Unlocking?

    /// The error of an unlocking that outlasted its callers, and until when it is reported.
    var failure: (error: KeychainError, end: ContinuousClock.Instant)?
  }

  /// The maximum time that a call waits.
  private static let time = Duration.milliseconds(100)

  private let vault: Vault

  /// One handle of the vault for all reads that need no question.
  private let unlocked: Vault
  private let state = PosixMutex(State())

  init(_ vault: Vault) {
    self.vault = vault
    unlocked = vault.quiet(waiting: Self.time, inAll: false)
  }

  /// Reads one secret, or fails.
  func readOne<Success>(
    _ body: (Vault) throws(KeychainError) -> Success
  ) -> Result<Success, KeychainError> {
    do throws(KeychainError) {
      switch try Attempt({ () throws(KeychainError) in try body(unlocked) }) {
      case .done(let success): return .success(success)
      case .needs: return read(body)
      }
    } catch { return .failure(error.code == .timedOut ? .isInUse : error) }
  }

  /// Reads secrets; `body` may also return failures.
  func read<Success>(
    _ body: (Vault) throws(KeychainError) -> Success
  ) -> Result<Success, KeychainError> {
    let end = DispatchTime.now() + .milliseconds(Int(Self.time / .milliseconds(1)))
    var prompt = vault.quiet(waiting: Self.time, inAll: true)
    do throws(KeychainError) {
      while true {
        switch try Attempt({ () throws(KeychainError) in try body(prompt) }) {
        case .done(let success): return .success(success)
        case .needs(let need):
          // Items that need no more keys can still be read.
          if let failure = failure(of: need.meet, until: end) { prompt = prompt.refusing(failure) }
        }
      }
    } catch { return .failure(error.code == .timedOut ? .isInUse : error) }
  }

  /// Unlocks the vault, unless that has begun; returns why it is not unlocked.
  private func failure(
    of unlock: @escaping @Sendable () throws(KeychainError) -> Void, until end: DispatchTime
  ) -> KeychainError? {
    let begun: (unlocking: Unlocking, isNew: Bool)? = state.withLock { state in
      if let unlocking = state.unlocking { return (unlocking, false) }
      if let failure = state.failure, .now < failure.end { return nil }
      let new = Unlocking()
      new.group.enter()
      state.unlocking = new
      state.failure = nil
      return (new, true)
    }
    guard let (unlocking, isNew) = begun else { return state.withLock { $0.failure?.error } }
    if isNew { start(unlocking, unlock) }
    guard unlocking.group.wait(timeout: end) == .success else {
      return KeychainError(
        .busy,
        "the vault is being unlocked, which takes longer than a call without 'await' may wait",
        recovery: "try again, or fetch the value")
    }
    return unlocking.failure.withLock { $0 }
  }

  private func start(
    _ unlocking: Unlocking, _ unlock: @escaping @Sendable () throws(KeychainError) -> Void
  ) {
    let start = ContinuousClock.now
    // Not on the pool, because all its threads may wait for the vault.
    do throws(Errno) {
      try DetachedThread.start(named: "keychain unlock") { [self] in
        var failure: KeychainError?
        do throws(KeychainError) { try unlock() } catch { failure = error }
        end(unlocking, failure, isLate: .now - start > Self.time)
      }
    } catch {
      end(unlocking, .system(error, "start a thread to unlock", "the vault"), isLate: false)
    }
  }

  private func end(_ unlocking: Unlocking, _ failure: KeychainError?, isLate: Bool) {
    unlocking.failure.withLock { $0 = failure }
    state.withLock { state in
      state.unlocking = nil
      if isLate, let failure { state.failure = (failure, .now + .seconds(2)) }
    }
    unlocking.group.leave()
  }
}

extension KeychainError {
  fileprivate static let isInUse = Self(
    .busy, "another process uses the vault for longer than a call without 'await' may wait",
    recovery: "try again, or fetch the value")
}
#endif
