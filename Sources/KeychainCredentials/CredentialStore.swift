public import KeychainSecrets

/// A place that keeps credentials.
///
/// ```swift
/// let identity = CredentialIdentity.genericPassword(service: "mytool", account: "me")
/// try store.store(Credential(identity), secret: SecretBytes(copying: "hunter2"))
/// let stored = try store.secret(for: identity)   // nil if there is none
/// let found = try store.search(CredentialQuery(service: "mytool"))
/// try store.remove(identity)
/// ```
///
/// Every store keeps these rules, and one contract suite checks them for each:
///
/// - What is absent is `nil`; no failure ever looks like absence.
/// - Nothing is written after a failed read.
/// - A call returns after its change is durable, or throws and leaves the old state.
/// - Every call ends: what cannot be had by the store's deadline throws
///   ``KeychainError/Code/timedOut`` or ``KeychainError/Code/busy``.
///
/// Calls block the calling thread; ``CredentialStore/perform(_:)`` moves them off Swift's
/// concurrency pool.
public protocol CredentialStore: Sendable {
  /// Returns a secret.
  ///
  /// - Parameter identity: What names the credential; matched exactly.
  /// - Returns: The secret with its credential, or `nil` if there is none. An expired credential
  ///   is returned as any other.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/locked`` if the store must be unlocked
  ///   first, or ``KeychainError/Code/damaged`` if the item was changed outside the store.
  func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret?

  /// Returns a credential without its secret.
  ///
  /// - Parameter identity: What names the credential; matched exactly.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: As ``secret(for:)``.
  func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential?

  /// Returns the credentials that match a query.
  ///
  /// - Parameter query: The conditions; names compare as bytes.
  /// - Returns: What was found, ordered by identity. Locked and damaged items are counted there,
  ///   and are no error.
  /// - Throws: ``KeychainError`` if the store itself cannot be read.
  func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult

  /// Adds a credential, or replaces the one of the same identity in place.
  ///
  /// - Parameters:
  ///   - credential: The credential; its creation date, modification date and version are set by
  ///     the store. Of a replaced credential the creation date stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes; none is allowed.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The credential as it was stored.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/alreadyExists``,
  ///   ``KeychainError/Code/notFound`` or ``KeychainError/Code/versionConflict`` according to
  ///   `mode`, ``KeychainError/Code/tooLarge``, ``KeychainError/Code/refused`` if the store does
  ///   not offer the accessibility, or ``KeychainError/Code/invalidArgument`` if an attribute has a
  ///   reserved name.
  @discardableResult
  func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential

  /// Stores a secret, and keeps what is known about its credential unless the update changes it.
  ///
  /// The credential is read, merged and written in one step: if several callers write to one credential
  /// at the same time, no change is lost. A credential that does not exist is added, with what the
  /// update sets.
  ///
  /// An expiry and a content type usually belong to a secret. They stay like everything else: clear
  /// them in the update if they are not those of the new secret.
  ///
  /// A store that cannot do this in one step gets it from an extension of this protocol, which
  /// stores with the version that it has read, and again if that version was replaced meanwhile.
  ///
  /// - Parameters:
  ///   - update: The changes; what is left out stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes; it may be empty.
  ///   - identity: What names the credential.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The credential as it was stored, and the one that it replaced.
  /// - Throws: As ``store(_:secret:mode:)``, or ``KeychainError`` with ``KeychainError/Code/timedOut`` if
  ///   others replaced the credential each time before the deadline. The old credential stays then.
  @discardableResult
  func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential

  /// Changes what is known about a credential, without touching its secret.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - update: The changes; all happen, or none.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The credential as it is now.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound`` or
  ///   ``KeychainError/Code/versionConflict``, or as ``store(_:secret:mode:)``.
  @discardableResult
  func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential

  /// Gives a credential another name, in one step; its secret and what is known about it stay.
  ///
  /// The other identity may be of another access group, service, server or kind. The creation date
  /// and the expiry stay as well; the modification date and the version are new. Observers see the
  /// old name removed and the new one added. A credential that is renamed to itself stays as it is.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - newIdentity: What names it from then on.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The credential as it is now.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound``,
  ///   ``KeychainError/Code/versionConflict``, ``KeychainError/Code/alreadyExists`` if there is one of
  ///   the new name, ``KeychainError/Code/tooLarge``, or ``KeychainError/Code/locked``.
  @discardableResult
  func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential

  /// Removes a credential.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: `false` if there was none.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/versionConflict`` if the version
  ///   differs, or ``KeychainError/Code/locked``.
  @discardableResult
  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool

  /// Calls a closure after each change.
  ///
  /// - Parameter observer: Called on an arbitrary thread, after the change is durable. It must not
  ///   wait for the store.
  /// - Returns: Keeps the observation alive; it ends when this is destroyed.
  func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation
}

/// Whether a credential may, must or must not exist already when one is stored.
public enum StoreMode: Hashable, Sendable {
  /// Add, or replace in place.
  case addOrReplace

  /// Add; an existing one is ``KeychainError/Code/alreadyExists``.
  case addOnly

  /// Replace the one of this version; any other is ``KeychainError/Code/versionConflict``.
  case replace(version: UInt64)
}

/// What a merging write has done.
public struct MergedCredential: Hashable, Sendable {
  /// The credential as it was stored.
  public let credential: Credential

  /// The credential that was there before; `nil` if the stored one is new.
  public let replaced: Credential?

  /// Puts the two together; for authors of stores.
  ///
  /// - Parameters:
  ///   - credential: The credential as it was stored.
  ///   - replaced: The credential that was there before.
  public init(credential: Credential, replaced: Credential?) {
    self.credential = credential
    self.replaced = replaced
  }
}

/// A secret, and the credential it belongs to.
public struct StoredSecret: ~Copyable, Sendable {
  /// The credential, as it was when the secret was read.
  public let credential: Credential

  /// The secret.
  public let secret: SecretBytes

  /// Puts the two together; for authors of stores.
  ///
  /// - Parameters:
  ///   - credential: The credential.
  ///   - secret: Its secret.
  public init(credential: Credential, secret: consuming SecretBytes) {
    self.credential = credential
    self.secret = secret
  }

  /// Returns the secret alone, without copying it.
  ///
  /// - Returns: The secret.
  public consuming func takeSecret() -> SecretBytes { secret }
}

/// What a search found.
public struct CredentialSearchResult: Hashable, Sendable {
  /// The credentials that could be read, ordered by the bytes of their identities.
  public var credentials: [Credential]

  /// How many items could not be looked at because the store is locked for them.
  ///
  /// Some of them may not match.
  public var lockedCount: Int

  /// Names of items that are damaged, as far as they can be named.
  public var damaged: [String]

  /// How many items are bound to another device.
  public var otherDeviceCount: Int

  /// Why stores that may have more could not be searched, where several were.
  public var failures: [KeychainError]

  /// How many items of other programs have the attributes that were looked for, and no names by which they
  /// could be credentials; counted if no names were looked for.
  package var unlistedCount = 0

  /// Puts a result together; for authors of stores.
  ///
  /// - Parameters:
  ///   - credentials: What was found; it is ordered here.
  ///   - lockedCount: How many items are locked.
  ///   - damaged: Names of damaged items.
  ///   - otherDeviceCount: How many items are bound to another device.
  ///   - failures: Why stores could not be searched.
  public init(
    credentials: [Credential], lockedCount: Int = 0, damaged: [String] = [],
    otherDeviceCount: Int = 0, failures: [KeychainError] = []
  ) {
    self.credentials = credentials.sorted {
      $0.identity.allNames.lexicographicallyPrecedes($1.identity.allNames) {
        $0.hasLesserBytes(than: $1)
      }
    }
    self.lockedCount = lockedCount
    self.damaged = damaged
    self.otherDeviceCount = otherDeviceCount
    self.failures = failures
  }
}

extension CredentialIdentity {
  fileprivate var allNames: [String] { [accessGroup] + kind.names }
}
