internal import FoundationEssentials
public import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

extension Vault {
  /// Returns a secret; see the protocol.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    guard let (item, contents, sealing) = try item(identity) else { return nil }
    return StoredSecret(
      credential: try sealing.credential(of: item, name: "\(identity)"),
      secret: try sealing.secret(of: item, in: contents, name: "\(identity)"))
  }

  /// Returns a credential; see the protocol.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    guard let (item, _, sealing) = try item(identity) else { return nil }
    return try sealing.credential(of: item, name: "\(identity)")
  }

  /// Finds the item of an identity, with the keys that open it.
  private func item(
    _ identity: CredentialIdentity
  ) throws(KeychainError) -> (VaultItem, VaultContents, ItemSealing)? {
    guard let session = try session() else { return nil }
    let found = try session.read(.nothing) {
      contents, sealing throws(KeychainError)
        -> VaultSession.Attempt<(VaultItem, VaultContents, ItemSealing)?> in
      let item = try contents.item(sealing.id(of: identity), sealing.keys, name: "\(identity)")
      guard let item else { return .done(nil) }
      guard sealing.isOfOtherDevice(item.entry) || sealing.keys.satisfies(item.requirement) else {
        return .needs(.keys(item.requirement))
      }
      return .done((item, contents, sealing))
    }
    if let found, found.0.requirement == .unlockedNow { unlocker.touch(found.1.head) }
    return found
  }

  /// Returns a secret that several owners share.
  package func sharedSecret(
    for identity: CredentialIdentity
  ) throws(KeychainError) -> SharedStoredSecret? {
    guard let secret = try secret(for: identity) else { return nil }
    return SharedStoredSecret(secret)
  }

  /// Returns secrets as they are at one moment, or why each cannot be read.
  ///
  /// It throws if even the names cannot be looked up.
  package func sharedSecrets(
    for identities: [CredentialIdentity]
  ) throws(KeychainError) -> [ReadSecret] {
    guard let session = try session() else { return identities.map { _ in .success(nil) } }
    do throws(KeychainError) {
      return try secrets(for: identities, session, unless: nil)
    } catch {
      guard error.need == nil else { throw error }
      // Those that need no more keys can still be read.
      return try secrets(for: identities, session, unless: error)
    }
  }

  /// Returns the digest of the vault's last commit; `nil` if there is no vault.
  package func lastCommit() throws(KeychainError) -> [UInt8]? {
    guard let session = try session() else { return nil }
    return try session.read(.nothing) { contents, _ throws(KeychainError) in
      .done(Array(contents.newest.digest))
    }
  }

  /// Items without an available key are asked for, or fail with `failure`.
  private func secrets(
    for identities: [CredentialIdentity], _ session: VaultSession, unless failure: KeychainError?
  ) throws(KeychainError) -> [ReadSecret] {
    try session.read(.nothing) { contents, sealing throws(KeychainError) in
      var found: [ReadSecret] = []
      var needed = Accessibility.UnlockRequirement.nothing
      var used = needed
      for identity in identities {
        found.append(
          ReadSecret { () throws(KeychainError) in
            let name = "\(identity)"
            let item = try contents.item(sealing.id(of: identity), sealing.keys, name: name)
            guard let item else { return nil }
            if !sealing.isOfOtherDevice(item.entry), !sealing.keys.satisfies(item.requirement) {
              if let failure { throw failure }
              needed = max(needed, item.requirement)
              return nil
            }
            used = max(used, item.requirement)
            return SharedStoredSecret(
              StoredSecret(
                credential: try sealing.credential(of: item, name: name),
                secret: try sealing.secret(of: item, in: contents, name: name)))
          })
      }
      guard needed == .nothing else { return .needs(.keys(needed)) }
      if used == .unlockedNow { unlocker.touch(contents.head) }
      return .done(found)
    }
  }

  /// Searches; see the protocol.
  ///
  /// Locked items are counted, and nobody is asked for a passphrase to open them. A secret from an
  /// explicit or ambient source is used.
  public func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    try find(query).result
  }

  /// Searches; the secrets are those at the moment of the search.
  package func find(_ query: CredentialQuery) throws(KeychainError) -> FoundCredentials {
    guard let session = try session() else {
      return FoundCredentials(CredentialSearchResult(credentials: []), in: self)
    }
    return try session.read(.nothing) { contents, sealing throws(KeychainError) in
      let found = try contents.search(query, sealing)
      if found.lockedCount > 0, hasUnlockSource, !sealing.keys.hasAll {
        return .needs(.keys(.unlockedNow))
      }
      return .done(
        FoundCredentials(found) { [unlocker] credential throws(KeychainError) in
          let (id, name) = (try sealing.id(of: credential.identity), "\(credential.identity)")
          guard let item = try contents.item(id, sealing.keys, name: name) else { return nil }
          if item.requirement == .unlockedNow { unlocker.touch(contents.head) }
          return StoredSecret(
            credential: credential, secret: try sealing.secret(of: item, in: contents, name: name))
        })
    }
  }

  /// Makes sure that items with a requirement can be read, asking for the passphrase if needed and
  /// allowed.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked``,
  ///   ``KeychainError/Code/incorrectSecret`` or ``KeychainError/Code/cancelled``. A missing vault
  ///   is not an error.
  public func ensureReadable(_ requirement: Accessibility.UnlockRequirement) throws(KeychainError) {
    guard let session = try session() else { return }
    try session.requireReadable(requirement)
  }

  /// Observes changes by this handle, by other handles and by other processes; see the protocol.
  ///
  /// Nothing is polled. While there are observations, one thread waits until the kernel notifies it
  /// that the vault's file was written, and compares the items with the previous ones. Several
  /// changes of an item at short intervals may be reported as one. If another process changed many
  /// items, finding them takes one pass over all items.
  ///
  /// An observation asks for no passphrase and does not keep the vault unlocked longer. Changes of
  /// locked items by other processes are reported without their ``CredentialChange/identity``.
  ///
  /// If the kernel gives no notifications, only changes made through this handle are reported, and
  /// a notice says so. Those changes and further observations try again, and then report missed
  /// changes. A vault that is missing or was rolled back reports nothing until it is there again,
  /// or accepted.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation { observers.observe(observer) }

  /// Observes changes, and also when the vault cannot be read, or can be read again: it is missing,
  /// damaged or rolled back, or no key is available.
  package func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void,
    whenReadabilityChanges: @escaping @Sendable () -> Void
  ) -> CredentialObservation {
    observers.observe(observer, whenReadabilityChanges: whenReadabilityChanges)
  }

  /// Verifies the whole vault: that no row was changed, dropped or put back, that the index and the
  /// items agree, and that every item with an available key opens.
  ///
  /// Problems are listed, not thrown.
  ///
  /// - Parameter progress: Called from time to time with the progress of the verification.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if even the indexes cannot be
  ///   read, ``KeychainError/Code/rolledBack``, ``KeychainError/Code/noStore``, or
  ///   ``KeychainError/Code/damaged`` if the file is too damaged to be checked.
  public func verify(
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VerificationReport {
    try existingSession().read(.nothing, anew: true) { contents, sealing throws(KeychainError) in
      .done(try VaultVerification(contents: contents, sealing: sealing, progress: progress).run())
    }
  }

  /// Fails unless every item can be read, asking if needed and allowed, and the vault is intact.
  package func requireReadableAndIntact() throws(KeychainError) {
    let counts = try itemCounts(matching: nil)
    try ensureReadable(counts.keys.map(\.unlockRequirement).max() ?? .nothing)
    try verify().requireIntact()
  }

  // The visible contents of a vault without asking, hashing or extending its unlocked time.

  /// Whether a vault has matching items; unknown if only an unlocked vault can answer.
  package enum Presence: Hashable, Sendable {
    case noVault, absent, present, unknown
  }

  /// Returns whether the vault has credentials of a service or server, including locked ones.
  ///
  /// The query must name one of them, and nothing else. It is an error if there was a vault and it
  /// is missing.
  package func presence(of query: CredentialQuery) throws(KeychainError) -> Presence {
    guard let session = try session() else { return .noVault }
    guard let isPresent = try session.isPresent(query) else { return .unknown }
    return isPresent ? .present : .absent
  }

  /// Whether the vault has a credential, which may be locked.
  package func contains(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    guard let session = try session() else { return false }
    return try session.read(.nothing) { contents, sealing throws(KeychainError) in
      let id = try sealing.id(of: identity)
      return .done(try contents.item(id, sealing.keys, name: "\(identity)") != nil)
    }
  }

  /// Whether there is a vault; it is an error if there was one and it is missing.
  package func isThere() throws(KeychainError) -> Bool { try session() != nil }

  package func hasDeviceSecret() throws(KeychainError) -> Bool {
    try unlocker.state.hasDeviceSecret()
  }

  /// Returns which part of the path of a missing vault exists; `nil` if there is a vault.
  ///
  /// It is an error if there was one and it is missing.
  package func absence() throws(KeychainError) -> VaultAbsence? {
    guard try !isThere() else { return nil }
    let path = try file.path()
    let stat = try? Stat(FilePath(path.folder))
    return VaultAbsence(path: path.path, folder: path.folder, hasFolder: stat?.type == .directory)
  }

  /// Searches with the available keys, waiting for other processes no longer than `time`; `nil` if
  /// there is no vault or no key is available.
  package func glance(
    _ query: CredentialQuery, within time: Duration
  ) throws(KeychainError) -> CredentialSearchResult? {
    let own = Deadline(after: time)
    let deadline = configuration.commonDeadline.map(own.limited) ?? own
    guard let opened = try file.open() else { return nil }
    return try session(opened, deadline).glance(query)
  }
}

extension VaultSession {
  /// Searches with the available keys, if there are any, and counts the items that they do not
  /// open.
  fileprivate func glance(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult?
  {
    guard let keys = try unlocker.keysAtHand(.nothing, head) else { return nil }
    return try contents(keys).search(query, sealing(keys))
  }

  /// Returns whether there are credentials of a service or server; `nil` if no key is available.
  fileprivate func isPresent(_ query: CredentialQuery) throws(KeychainError) -> Bool? {
    guard let keys = try unlocker.keysAtHand(.nothing, head) else { return nil }
    let contents = try contents(keys)
    var known = file.services.withLock { $0 }
    if known?.digest == contents.newest.digest, known?.readable == keys.readable {
      if known?.queries == nil {
        known?.queries = try contents.search(CredentialQuery(), sealing(keys)).services
        file.services.withLock { $0 = known }
      }
      if let queries = known?.queries, !queries.isEmpty { return queries.contains(query) }
    } else {
      file.services.withLock {
        $0 = KnownServices(digest: contents.newest.digest, readable: keys.readable)
      }
    }
    let found = try contents.search(query, sealing(keys))
    return !found.credentials.isEmpty || !found.isWhole
  }
}

extension CredentialSearchResult {
  /// Whether it names every credential that may match.
  fileprivate var isWhole: Bool { lockedCount + otherDeviceCount + damaged.count == 0 }

  /// The searches for the services and servers of the found credentials; empty if one has no name.
  fileprivate var services: Set<CredentialQuery> {
    guard isWhole else { return [] }
    return Set(
      credentials.map { credential in
        switch credential.identity.kind {
        case .genericPassword(let service, _): CredentialQuery(service: service)
        case .internetPassword(let password): CredentialQuery(server: password.server)
        }
      })
  }
}

/// A missing vault, and how much of its path exists.
package struct VaultAbsence: Hashable, Sendable {
  /// The real path at which the vault is missing.
  package let path: String

  /// The folder in which it would be, and whether that exists.
  package let folder: String
  package let hasFolder: Bool
}
