internal import KeychainCredentials
internal import KeychainVaultFormat
internal import Synchronization

/// The unlocking that operations of a vault put off, and the keys it gave.
///
/// They are kept here, too, since a vault may keep none itself: its idle time can be zero.
final class PostponedUnlocking: Sendable {
  private let question: PostponedQuestion
  private let keys = Mutex<TierKeys?>(nil)

  init(_ question: PostponedQuestion) { self.question = question }

  /// The keys of the last answer, if they are what is needed.
  func keys(
    _ requirement: Accessibility.UnlockRequirement, _ head: VaultHead
  ) -> TierKeys? {
    keys.withLock { $0 }.flatMap {
      $0.checks == head.row.checks && $0.satisfies(requirement) ? $0 : nil
    }
  }

  /// Puts unlocking off.
  func postpone(
    _ unlock: @escaping @Sendable () throws(KeychainError) -> TierKeys
  ) -> KeychainError {
    question.postpone { [self] () throws(KeychainError) in
      let answer = try unlock()
      keys.withLock { $0 = answer }
    }
  }

  /// Puts off that a vault is made, with a passphrase that is to be hashed.
  func postpone(
    making: @escaping @Sendable () throws(KeychainError) -> Void
  ) -> KeychainError {
    question.postpone(making)
  }
}
