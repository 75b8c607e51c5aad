internal import KeychainCredentials
internal import KeychainVaultFormat
internal import Synchronization

/// Unlocking that operations of a vault postpone, and the keys that it gave.
///
/// The keys are also kept here, because a vault may keep none itself: its idle time can be zero.
final class PostponedUnlocking: Sendable {
  private let question: PostponedQuestion
  private let keys = Mutex<TierKeys?>(nil)

  init(_ question: PostponedQuestion) { self.question = question }

  /// Returns the keys of the last answer, if they are enough.
  func keys(
    _ requirement: Accessibility.UnlockRequirement, _ head: VaultHead
  ) -> TierKeys? {
    keys.withLock { $0 }.flatMap {
      head.owns($0) && $0.satisfies(requirement) ? $0 : nil
    }
  }

  /// Postpones unlocking.
  func postpone(
    _ unlock: @escaping @Sendable () throws(KeychainError) -> TierKeys
  ) -> KeychainError {
    question.postpone { [self] () throws(KeychainError) in
      let answer = try unlock()
      keys.withLock { $0 = answer }
    }
  }

  /// Postpones creating a vault with a passphrase that must be hashed.
  func postpone(
    making: @escaping @Sendable () throws(KeychainError) -> Void
  ) -> KeychainError {
    question.postpone(making)
  }
}
