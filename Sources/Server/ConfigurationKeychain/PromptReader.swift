#if ConfigurationSupport
internal import Dispatch
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesSystem
internal import SystemPackage

/// Reads a vault for callers that block a thread of Swift's concurrency pool.
///
/// A call waits no longer than a moment for other processes, and for the vault to be unlocked again.
/// Unlocking can take longer, because a passphrase is hashed: it goes on in the background, once for all
/// callers, and they fail as *busy* meanwhile.
final class PromptReader: Sendable {
  private final class Unlocking: Sendable {
    let group = DispatchGroup()
    let failure = PosixMutex<KeychainError?>(nil)
  }

  private struct State {
    var unlocking: Unlocking?

    /// Why unlocking failed for which nobody waited long enough, and until when that is told.
    var failure: (error: KeychainError, end: ContinuousClock.Instant)?
  }

  /// How long a call waits at most.
  private static let time = Duration.milliseconds(100)

  private let vault: Vault

  /// The vault for reads that need no question, all with one handle.
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

  /// Reads secrets; `body` may return failures as well.
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
          // What needs no more keys can still be read.
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
    // Not on the pool, whose threads may all wait for the vault.
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
