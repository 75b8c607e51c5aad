package import KeychainSecrets
package import PrephirencesSystem

/// What this package's stores can do beyond the public protocol.
///
/// Every store has these methods, so callers need not know which store they have. Stores of other
/// authors get the defaults.
package protocol BuiltInStore: CredentialStore {
  /// Unlocks items with this requirement that a search found locked; may ask a person.
  func makeReadable(
    _ query: CredentialQuery, _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError)

  /// Checks that every item is intact and can be read, for which it may ask a person.
  func requireReadableAndIntact() throws(KeychainError)

  /// Checks, as far as possible without writing, that a credential can be stored; may ask a person.
  func checkStoring(
    _ identity: CredentialIdentity, _ accessibility: Accessibility, mode: StoreMode
  ) throws(KeychainError)

  /// Whether the store has a credential, which may be locked.
  func contains(_ identity: CredentialIdentity) throws(KeychainError) -> Bool

  /// Stores what a caller asks for, whose rules are checked.
  func set(
    _ request: StoreRequest, secret: borrowing SecretBytes
  ) throws(KeychainError) -> MergedCredential

  /// Whether items that must stay on this machine do: a copy of the store alone does not open
  /// elsewhere.
  var bindsToDevice: Bool { get }

  /// The environment that locates the user's folders.
  var environment: EnvironmentVariables { get }

  /// Returns this store for operations that must not wait for a person or a long computation.
  ///
  /// An operation that would have to wait fails, and the question records for what.
  func postponing(_ question: PostponedQuestion) -> any BuiltInStore
}

extension BuiltInStore {
  package func makeReadable(
    _ query: CredentialQuery, _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) {}

  package func requireReadableAndIntact() throws(KeychainError) {}

  package func checkStoring(
    _ identity: CredentialIdentity, _ accessibility: Accessibility, mode: StoreMode
  ) throws(KeychainError) {}

  package func contains(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    try credential(for: identity) != nil
  }

  package func set(
    _ request: StoreRequest, secret: borrowing SecretBytes
  ) throws(KeychainError) -> MergedCredential {
    let (identity, mode) = (request.identity, request.mode)
    if let update = request.update {
      return try merge(update, secret: secret, into: identity, mode: mode)
    }
    return MergedCredential(
      credential: try set(request.new, secret: secret, mode: mode), replaced: nil)
  }

  package var bindsToDevice: Bool { false }

  package var environment: EnvironmentVariables { .process }

  package func postponing(_ question: PostponedQuestion) -> any BuiltInStore { self }
}

// The only code that asks whether a store belongs to this package.
extension CredentialStore {
  private var builtIn: (any BuiltInStore)? { self as? any BuiltInStore }

  package func makeReadable(
    _ query: CredentialQuery = CredentialQuery(),
    _ requirement: Accessibility.UnlockRequirement = .unlockedNow
  ) throws(KeychainError) { try builtIn?.makeReadable(query, requirement) }

  package func requireReadableAndIntact() throws(KeychainError) {
    try builtIn?.requireReadableAndIntact()
  }

  /// Checks, as far as possible without writing, that a credential can be stored; may ask a person.
  ///
  /// A vault checks the mode only when it writes.
  package func checkStoring(
    _ identity: CredentialIdentity, _ accessibility: Accessibility, mode: StoreMode = .addOnly
  ) throws(KeychainError) { try builtIn?.checkStoring(identity, accessibility, mode: mode) }

  package func contains(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    if let builtIn { return try builtIn.contains(identity) }
    return try credential(for: identity) != nil
  }

  package func receive(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    guard let builtIn else { return try set(credential, secret: secret, mode: mode) }
    let request = try StoreRequest(
      credential, secretCount: secret.count, mode: mode, keepsDates: true)
    return try builtIn.set(request, secret: secret).credential
  }

  package var bindsToDevice: Bool { builtIn?.bindsToDevice ?? false }

  package var environment: EnvironmentVariables { builtIn?.environment ?? .process }

  package func postponing(_ question: PostponedQuestion) -> any CredentialStore {
    builtIn?.postponing(question) ?? self
  }
}

/// What an operation that holds a lock would have to wait for, such as a passphrase and its hash.
///
/// The operation fails and releases the lock. The question is then asked, and the operation
/// repeated.
package final class PostponedQuestion: Sendable {
  private let question = PosixMutex<(@Sendable () throws(KeychainError) -> Void)?>(nil)
  private let refusal = PosixMutex<KeychainError?>(nil)

  /// Whether a provider must not show even the dialog that is part of a change.
  ///
  /// Such a change fails then, as it does if no person may be asked.
  package let forbidsDialogs: Bool

  package init(forbidsDialogs: Bool = false) { self.forbidsDialogs = forbidsDialogs }

  /// Records what must be done before the operation is repeated.
  ///
  /// Returns the error of the operation, which is not reported unless it was given to
  /// ``refuse(with:)``.
  package func postpone(
    _ question: @escaping @Sendable () throws(KeychainError) -> Void
  ) -> KeychainError {
    if let refusal = refusal.withLock({ $0 }) { return refusal }
    self.question.withLock { $0 = question }
    return KeychainError(.busy, "something must be asked first")
  }

  /// Records nothing from now on, and lets operations that would have to wait fail with an error.
  package func refuse(with error: KeychainError) { refusal.withLock { $0 = error } }

  /// Repeats an operation, which takes its own lock, until it has no more questions.
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

  /// Returns what must be done before the operation is repeated, once; `nil` if nothing was
  /// recorded.
  package func take() -> (@Sendable () throws(KeychainError) -> Void)? {
    question.withLock { question in
      defer { question = nil }
      return question
    }
  }
}
