public import KeychainSecrets
internal import PrephirencesSystem

/// A store of credentials.
///
/// ```swift
/// let identity = CredentialIdentity.genericPassword(service: "mytool", account: "me")
/// try store.set(Credential(identity), secret: SecretBytes(copying: "hunter2"))
/// let stored = try store.secret(for: identity)   // nil if there is none
/// let found = try store.search(CredentialQuery(service: "mytool"))
/// try store.remove(identity)
/// ```
///
/// Every store follows these rules; a contract suite checks them:
///
/// - A missing credential is `nil`, and no failure looks like a missing credential.
/// - Nothing is written after a failed read.
/// - A call returns after its change is durable, or throws and leaves the old state.
/// - Every call ends: at the store's deadline it throws ``KeychainError/Code/timedOut`` or
///   ``KeychainError/Code/busy``.
///
/// Calls block the calling thread; ``CredentialStore/perform(_:)`` moves them off Swift's
/// concurrency pool.
public protocol CredentialStore: Sendable {
  /// Returns a secret.
  ///
  /// - Parameter identity: The identity of the credential; matched exactly.
  /// - Returns: The secret with its credential, or `nil` if there is none. An expired credential is
  ///   returned like any other.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/locked`` if the store must be unlocked
  ///   first, or ``KeychainError/Code/damaged`` if the item was changed outside the store.
  func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret?

  /// Returns a credential without its secret.
  ///
  /// - Parameter identity: The identity of the credential; matched exactly.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: As ``secret(for:)``.
  func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential?

  /// Returns the credentials that match a query.
  ///
  /// - Parameter query: The conditions; names compare as bytes.
  /// - Returns: What was found, ordered by identity. Locked and damaged items are reported in it,
  ///   and are not an error.
  /// - Throws: ``KeychainError`` if the store itself cannot be read.
  func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult

  /// Adds a credential, or replaces the one of the same identity in place.
  ///
  /// - Parameters:
  ///   - credential: The credential. The store sets its creation date, modification date and
  ///     version; a replaced credential keeps its creation date.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes; it may be empty.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The stored credential.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/alreadyExists``,
  ///   ``KeychainError/Code/notFound`` or ``KeychainError/Code/versionConflict`` according to
  ///   `mode`, ``KeychainError/Code/tooLarge``, ``KeychainError/Code/refused`` if the store does
  ///   not offer the accessibility, or ``KeychainError/Code/invalidArgument`` if an attribute has a
  ///   reserved name.
  @discardableResult
  func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential

  /// Stores a secret, and keeps the attributes of its credential unless the update changes them.
  ///
  /// The credential is read, merged and written in one step: if several callers write to one
  /// credential at the same time, no change is lost. If the credential does not exist, it is added
  /// with the attributes of the update.
  ///
  /// An expiry and a content type usually belong to a secret. They stay like everything else: clear
  /// them in the update if the new secret has different ones.
  ///
  /// A store that cannot do this in one step uses the implementation in an extension of this
  /// protocol. It stores under the condition that the version has not changed, and retries if it
  /// has.
  ///
  /// - Parameters:
  ///   - update: The changes; everything else stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes; it may be empty.
  ///   - identity: The identity of the credential.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The stored credential, and the one that it replaced.
  /// - Throws: As ``set(_:secret:mode:)``, or ``KeychainError`` with
  ///   ``KeychainError/Code/timedOut`` if others kept changing the credential until the deadline.
  ///   The old credential stays then.
  @discardableResult
  func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential

  /// Changes a credential without its secret.
  ///
  /// - Parameters:
  ///   - identity: The identity of the credential.
  ///   - update: The changes; either all are made, or none.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The changed credential.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound`` or
  ///   ``KeychainError/Code/versionConflict``, or as ``set(_:secret:mode:)``.
  @discardableResult
  func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential

  /// Renames a credential in one step; its secret and its attributes stay.
  ///
  /// The new identity may have another access group, service, server or kind. The creation date and
  /// the expiry stay as well; the modification date and the version are new. Observers see a
  /// removal of the old name and an addition of the new one. Renaming to the same identity changes
  /// nothing.
  ///
  /// - Parameters:
  ///   - identity: The identity of the credential.
  ///   - newIdentity: The new identity.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The renamed credential.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound``,
  ///   ``KeychainError/Code/versionConflict``, ``KeychainError/Code/alreadyExists`` if the new
  ///   identity exists, ``KeychainError/Code/tooLarge``, or ``KeychainError/Code/locked``.
  @discardableResult
  func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential

  /// Removes a credential.
  ///
  /// - Parameters:
  ///   - identity: The identity of the credential.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: `false` if there was no credential.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/versionConflict`` if the version
  ///   differs, ``KeychainError/Code/refused`` for another program's item, or
  ///   ``KeychainError/Code/locked``.
  @discardableResult
  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool

  /// Removes a credential, even one that another program stored in its own form.
  ///
  /// A store that no other program shares need not implement it.
  ///
  /// - Parameters:
  ///   - identity: The identity of the credential.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  ///   - includingOtherPrograms: Whether another program's item may be removed.
  /// - Returns: `false` if there was no credential.
  /// - Throws: As ``remove(_:expectedVersion:)``.
  @discardableResult
  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?, includingOtherPrograms: Bool
  ) throws(KeychainError) -> Bool

  /// Calls a closure after each change.
  ///
  /// - Parameter observer: Called on an arbitrary thread, after the change is durable. It must not
  ///   wait for the store.
  /// - Returns: The observation, which ends when this object is destroyed.
  func observe(_ observer: @escaping @Sendable (CredentialChange) -> Void) -> CredentialObservation
}

/// Whether a credential may, must or must not exist when one is stored.
@frozen public enum StoreMode: Hashable, Sendable {
  /// Add, or replace the existing one in place.
  case addOrReplace

  /// Add; if one exists, the call throws ``KeychainError/Code/alreadyExists``.
  case addOnly

  /// Replace this version; otherwise, the call throws ``KeychainError/Code/versionConflict``.
  case replace(version: UInt64)
}

/// The result of a merging write.
public struct MergedCredential: Hashable, Sendable {
  /// The stored credential.
  public let credential: Credential

  /// The credential that was replaced; `nil` if the stored one is new.
  public let replaced: Credential?

  /// Whether another program's item of the same name is next to the stored credential, which takes
  /// precedence.
  public package(set) var isNextToOtherPrograms = false

  /// Creates a result; for authors of stores.
  ///
  /// - Parameters:
  ///   - credential: The stored credential.
  ///   - replaced: The credential that was replaced.
  public init(credential: Credential, replaced: Credential?) {
    self.credential = credential
    self.replaced = replaced
  }
}

/// A secret, with its credential.
public struct StoredSecret: ~Copyable, Sendable {
  /// The credential at the time when the secret was read.
  public let credential: Credential

  /// The secret.
  public let secret: SecretBytes

  /// Creates a secret with its credential; for authors of stores.
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

/// A secret with its credential and several owners.
package struct SharedStoredSecret: Sendable {
  package let credential: Credential
  package let secret: SharedSecret

  package init(_ stored: consuming StoredSecret) {
    credential = stored.credential
    secret = SharedSecret(stored.takeSecret())
  }
}

/// A secret that was read, `nil` if there was none, or why it could not be read.
package typealias ReadSecret = Result<SharedStoredSecret?, KeychainError>

/// The result of a search.
public struct CredentialSearchResult: Hashable, Sendable {
  /// The credentials that could be read, ordered by the bytes of their identities.
  public var credentials: [Credential]

  /// The number of items that could not be read because they are locked.
  ///
  /// Some of them may not match.
  public var lockedCount: Int

  /// Names of damaged items, if they can be read.
  public var damaged: [String]

  /// How many items are bound to another device.
  public var otherDeviceCount: Int

  /// Why some of several stores could not be searched; they may have more credentials.
  public var failures: [KeychainError]

  /// The number of other programs' items that have the attributes of the query, but no names of a
  /// credential.
  ///
  /// They are counted only if the query has no names.
  package var unlistedCount = 0

  /// Creates a result; for authors of stores.
  ///
  /// - Parameters:
  ///   - credentials: The credentials; they are sorted here.
  ///   - lockedCount: How many items are locked.
  ///   - damaged: Names of damaged items.
  ///   - otherDeviceCount: How many items are bound to another device.
  ///   - failures: Why stores could not be searched.
  public init(
    credentials: [Credential], lockedCount: Int = 0, damaged: [String] = [],
    otherDeviceCount: Int = 0, failures: [KeychainError] = []
  ) {
    let keys = credentials.map(\.identity.orderingBytes)
    let order = credentials.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }
    self.credentials = order.map { credentials[$0] }
    self.lockedCount = lockedCount
    self.damaged = damaged
    self.otherDeviceCount = otherDeviceCount
    self.failures = failures
  }
}

extension CredentialIdentity {
  /// Bytes that are ordered as the names are, one name after the other.
  ///
  /// Two zeros end a name, and a zero in it is followed by a one: a name precedes a longer one.
  fileprivate var orderingBytes: [UInt8] {
    ([accessGroup] + kind.names).reduce(into: []) { bytes, name in
      for byte in name.utf8 {
        bytes.append(byte)
        if byte == 0 { bytes.append(1) }
      }
      bytes += [0, 0]
    }
  }
}
