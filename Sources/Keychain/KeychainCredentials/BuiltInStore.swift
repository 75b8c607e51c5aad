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

  /// Searches, and keeps the keys for the secrets of the found credentials.
  func find(_ query: CredentialQuery) throws(KeychainError) -> FoundCredentials

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

  /// Returns this store for attempts that wait neither for a person nor for a long computation.
  ///
  /// An operation that would have to wait throws an error with the ``Need``. All attempts of a call
  /// use one quiet store, which keeps the keys that it was given. If dialogs are forbidden, a
  /// provider does not even show the dialog of a change, which then fails as if no person may be
  /// asked.
  func quiet(forbiddingDialogs: Bool) -> any BuiltInStore
}

extension BuiltInStore {
  package func makeReadable(
    _ query: CredentialQuery, _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) {}

  package func find(_ query: CredentialQuery) throws(KeychainError) -> FoundCredentials {
    FoundCredentials(try search(query), in: self)
  }

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

  package func quiet(forbiddingDialogs: Bool) -> any BuiltInStore { self }
}

// The only code that asks whether a store belongs to this package.
extension CredentialStore {
  private var builtIn: (any BuiltInStore)? { self as? any BuiltInStore }

  package func makeReadable(
    _ query: CredentialQuery = CredentialQuery(),
    _ requirement: Accessibility.UnlockRequirement = .unlockedNow
  ) throws(KeychainError) { try builtIn?.makeReadable(query, requirement) }

  package func find(_ query: CredentialQuery) throws(KeychainError) -> FoundCredentials {
    if let builtIn { return try builtIn.find(query) }
    return FoundCredentials(try search(query), in: self)
  }

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

  package func quiet(forbiddingDialogs: Bool = false) -> any CredentialStore {
    builtIn?.quiet(forbiddingDialogs: forbiddingDialogs) ?? self
  }
}

/// The result of a search, whose secrets can be read.
package struct FoundCredentials {
  package let result: CredentialSearchResult

  /// Returns the secret of a found credential; `nil` if it was removed.
  package let secret: (Credential) throws(KeychainError) -> StoredSecret?

  package init(
    _ result: CredentialSearchResult,
    secret: @escaping (Credential) throws(KeychainError) -> StoredSecret?
  ) { (self.result, self.secret) = (result, secret) }

  /// Creates a result whose secrets are looked up again.
  package init(_ result: CredentialSearchResult, in store: any CredentialStore) {
    self.init(result) { credential throws(KeychainError) in
      try store.secret(for: credential.identity)
    }
  }
}
