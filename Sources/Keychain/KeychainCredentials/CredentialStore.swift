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
  /// Returns a secret with its credential, also if it has expired; `nil` if there is none.
  ///
  /// - Parameter identity: The identity of the credential; matched exactly.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/locked`` if the store must be unlocked
  ///   first, or ``KeychainError/Code/damaged`` if the item was changed outside the store.
  func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret?

  /// Returns a credential without its secret; `nil` if there is none.
  ///
  /// - Throws: As ``secret(for:)``.
  func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential?

  /// Returns the credentials that match a query, ordered by identity.
  ///
  /// Locked and damaged items are not an error; the result reports them.
  ///
  /// - Throws: ``KeychainError`` if the store itself cannot be read.
  func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult

  /// Adds a credential, or replaces the one of the same identity in place; returns the stored
  /// credential.
  ///
  /// - Parameters:
  ///   - credential: The credential. The store sets its creation date, modification date and
  ///     version; a replaced credential keeps its creation date.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes; it may be empty.
  ///   - mode: Whether the identity must, may or must not exist.
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
  /// credential at the same time, no change is lost. A missing credential is added with the
  /// attributes of the update.
  ///
  /// An expiry and a content type usually belong to a secret. They stay like everything else: clear
  /// them in the update if the new secret has different ones.
  ///
  /// A store that cannot do this in one step uses the implementation in an extension of this
  /// protocol. It stores only if the version has not changed, and otherwise retries.
  ///
  /// - Parameters:
  ///   - update: The changes; everything else stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes; it may be empty.
  ///   - mode: Whether the identity must, may or must not exist.
  /// - Throws: As ``set(_:secret:mode:)``, or ``KeychainError`` with
  ///   ``KeychainError/Code/timedOut`` if others kept changing the credential until the deadline.
  ///   The old credential stays then.
  @discardableResult
  func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential

  /// Changes a credential, but not its secret, and returns it.
  ///
  /// - Parameters:
  ///   - update: The changes; either all are made, or none.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound`` or
  ///   ``KeychainError/Code/versionConflict``, or as ``set(_:secret:mode:)``.
  @discardableResult
  func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential

  /// Renames a credential in one step, and returns it; its secret and its attributes stay.
  ///
  /// The new identity may have another access group, service, server or kind. The creation date and
  /// the expiry stay as well; the modification date and the version are new. Observers see a
  /// removal of the old name and an addition of the new one. Renaming to the same identity changes
  /// nothing.
  ///
  /// - Parameter expectedVersion: The version that the credential must have; `nil` for any.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound``,
  ///   ``KeychainError/Code/versionConflict``, ``KeychainError/Code/alreadyExists`` if the new
  ///   identity exists, ``KeychainError/Code/tooLarge``, or ``KeychainError/Code/locked``.
  @discardableResult
  func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential

  /// Removes a credential; `false` if there was none.
  ///
  /// - Parameter expectedVersion: The version that the credential must have; `nil` for any.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/versionConflict`` if the version
  ///   differs, ``KeychainError/Code/refused`` for another program's item, or
  ///   ``KeychainError/Code/locked``.
  @discardableResult
  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool

  /// Removes a credential, optionally also one that another program stored in its own form; `false`
  /// if there was none.
  ///
  /// A store that no other program shares need not implement it.
  ///
  /// - Throws: As ``remove(_:expectedVersion:)``.
  @discardableResult
  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?, includingOtherPrograms: Bool
  ) throws(KeychainError) -> Bool

  /// Calls a closure after each change, until the returned observation is destroyed.
  ///
  /// - Parameter observer: Called on an arbitrary thread, after the change is durable. It must not
  ///   wait for the store.
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
  public init(credential: Credential, secret: consuming SecretBytes) {
    self.credential = credential
    self.secret = secret
  }

  /// Returns the secret alone, without copying it.
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

/// A secret that was read, `nil` if there is none, or the error of reading it.
package typealias ReadSecret = Result<SharedStoredSecret?, KeychainError>

/// The result of a search.
public struct CredentialSearchResult: Hashable, Sendable {
  /// The credentials that could be read, ordered by the bytes of their identities.
  public var credentials: [Credential]

  /// The number of items that are locked, so that they could not be read; some of them may not
  /// match.
  public var lockedCount: Int

  /// Names of damaged items, if they can be read.
  public var damaged: [String]

  /// The number of items that are bound to another device.
  public var otherDeviceCount: Int

  /// Why some of several stores could not be searched; they may have more credentials.
  public var failures: [KeychainError]

  /// The number of other programs' items that have the attributes of the query, but no names of a
  /// credential; they are counted only if the query has no names.
  package var unlistedCount = 0

  /// Creates a result; the credentials need not be sorted.
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
  /// Bytes in the order of the names, one name after the other.
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
