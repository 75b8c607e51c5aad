internal import Synchronization

/// A store that can postpone questions to a person and long computations.
package protocol PostponingStore: CredentialStore {
  /// Returns this store for operations that must not wait for a person or a long computation.
  ///
  /// - Parameter question: Records what an operation would have to wait for; the operation then
  ///   fails.
  /// - Returns: The store, which shares everything else with this one.
  func postponing(_ question: PostponedQuestion) -> any CredentialStore
}

/// What an operation that holds a lock would have to wait for, such as a passphrase and its hash.
///
/// The operation fails and releases the lock. The question is then asked, and the operation
/// repeated.
package final class PostponedQuestion: Sendable {
  private let question = Mutex<(@Sendable () throws(KeychainError) -> Void)?>(nil)

  /// Whether a provider must not show even the dialog that is part of a change.
  ///
  /// Such a change fails then, as it does if no person may be asked.
  package let forbidsDialogs: Bool

  package init(forbidsDialogs: Bool = false) { self.forbidsDialogs = forbidsDialogs }

  /// Returns a store for operations that postpone what they would have to wait for.
  package func quiet(_ store: any CredentialStore) -> any CredentialStore {
    (store as? any PostponingStore)?.postponing(self) ?? store
  }

  /// Records what must be done before the operation is repeated.
  ///
  /// - Returns: The error of the operation, which is not reported.
  package func postpone(
    _ question: @escaping @Sendable () throws(KeychainError) -> Void
  ) -> KeychainError {
    self.question.withLock { $0 = question }
    return KeychainError(.busy, "something must be asked first")
  }

  /// Repeats an operation, which takes its own lock, until it has no more questions.
  ///
  /// - Throws: ``KeychainError`` of the operation or of a question, or with
  ///   ``KeychainError/Code/busy`` if the questions do not end.
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
