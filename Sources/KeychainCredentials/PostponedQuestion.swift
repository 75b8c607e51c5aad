internal import Synchronization

/// A store whose operations can put off what takes a person, or long work.
package protocol PostponingStore: CredentialStore {
  /// Returns this store for operations that must not wait for a person, or work for long.
  ///
  /// - Parameter question: Gets what an operation would have to wait for; the operation then fails.
  /// - Returns: The store, which shares everything else with this one.
  func postponing(_ question: PostponedQuestion) -> any CredentialStore
}

/// What an operation that holds a lock would have to wait for, such as a passphrase and its hashing.
///
/// The operation fails, the lock is let go, and what it needs is done before it is tried again.
package final class PostponedQuestion: Sendable {
  private let question = Mutex<(@Sendable () throws(KeychainError) -> Void)?>(nil)

  /// Whether an operation must not even show the dialog of a provider that asks before a change: it fails
  /// then, as it does where nobody may be asked.
  package let forbidsDialogs: Bool

  package init(forbidsDialogs: Bool = false) { self.forbidsDialogs = forbidsDialogs }

  /// Returns a store for operations that put off what they would have to wait for.
  package func quiet(_ store: any CredentialStore) -> any CredentialStore {
    (store as? any PostponingStore)?.postponing(self) ?? store
  }

  /// Notes what must be done before the operation is tried again.
  ///
  /// - Returns: The failure of the operation, which nobody sees.
  package func postpone(
    _ question: @escaping @Sendable () throws(KeychainError) -> Void
  ) -> KeychainError {
    self.question.withLock { $0 = question }
    return KeychainError(.busy, "something must be asked first")
  }

  /// Runs an operation, which takes its lock itself, until it needs nothing more.
  ///
  /// - Throws: ``KeychainError`` of the operation or of a question, or with ``KeychainError/Code/busy`` if
  ///   there is no end of questions.
  package func answering<Result>(
    _ operation: () throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    for _ in 0..<8 {
      do throws(KeychainError) {
        return try operation()
      } catch {
        guard let question = take() else { throw error }
        try question()
      }
    }
    throw KeychainError(
      .busy, "the store is locked again each time it was unlocked", recovery: .tryAgain)
  }

  private func take() -> (@Sendable () throws(KeychainError) -> Void)? {
    question.withLock { question in
      defer { question = nil }
      return question
    }
  }
}
