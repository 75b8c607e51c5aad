public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesFiles

extension SecretServiceStore: CredentialReceiver {
  /// A keyring's file can be copied to another machine, and its password opens it there.
  package var bindsToDevice: Bool { false }

  /// Stores a credential with its dates; see the protocol.
  @discardableResult
  package func receive(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try store(credential, secret: secret, mode: mode, keepsDates: true)
  }

  /// Stores a credential; see the protocol.
  ///
  /// Another program's item of this name stays as it is, and ours is preferred from then on.
  ///
  /// - Parameters:
  ///   - credential: The credential.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes.
  ///   - mode: Whether there must or must not be one of this identity already; another program's
  ///     counts.
  /// - Returns: The credential as it was stored.
  /// - Throws: ``KeychainError`` as the protocol says, with ``KeychainError/Code/refused`` for
  ///   ``Accessibility/whenPasscodeSetThisDeviceOnly``, which no desktop keyring knows.
  @discardableResult
  public func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try store(credential, secret: secret, mode: mode, keepsDates: false)
  }

  /// Stores a secret, and keeps what is known about its credential; see the protocol.
  ///
  /// Of another program's item, what is known is kept in ours, which is preferred from then on. Of
  /// several items of other programs with this name, nothing is kept.
  ///
  /// - Parameters:
  ///   - update: The changes; what is left out stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes.
  ///   - identity: What names the credential.
  ///   - mode: Whether there must or must not be one of this identity already; another program's
  ///     counts.
  /// - Returns: The credential as it was stored, and the one that it replaced.
  /// - Throws: As ``store(_:secret:mode:)``.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential {
    let said = update.applied(to: Credential(identity))
    try said.checkStoring(secretCount: secret.count)
    let encoded = try SharedSecret(StoredText.encode(secret))
    return try change { writer throws(KeychainError) in
      let existing: FoundItem?
      do throws(KeychainError) {
        existing = try writer.finder.item(identity)
      } catch {
        // Beside several items of other programs, ours is the one that is meant from then on.
        guard error.code == .ambiguous, mode == .addOrReplace else { throw error }
        existing = try writer.finder.ownItem(identity)
      }
      try mode.check(existing?.credential, identity: identity)
      let merged = update.applied(to: existing?.credential ?? Credential(identity))
      try merged.checkStoring(secretCount: nil)
      return try writer.put(merged, secret: encoded, replacing: existing)
    }
  }

  private func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode, keepsDates: Bool
  ) throws(KeychainError) -> Credential {
    try credential.checkStoring(secretCount: secret.count)
    let encoded = try SharedSecret(StoredText.encode(secret))
    let identity = credential.identity
    return try change { writer throws(KeychainError) in
      let existing =
        try mode == .addOrReplace
        ? writer.finder.ownItem(identity)
        // Of a thousand credentials that come from another store, each would be searched for under
        // every name that some program could have given it; once it is here, ours is preferred.
        : writer.finder.item(identity, alsoByAliases: !keepsDates)
      try mode.check(existing?.credential, identity: identity)
      return try writer.put(
        credential, secret: encoded, replacing: existing, keepsDates: keepsDates)
    }.credential
  }

  /// Changes what is known about a credential; see the protocol.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - update: The changes.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The credential as it is now.
  /// - Throws: ``KeychainError`` as the protocol says, with ``KeychainError/Code/refused`` for another
  ///   program's item.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try change { writer throws(KeychainError) in
      let existing = try writer.existing(identity, expectedVersion)
      var changed = update.applied(to: existing.credential)
      try changed.checkStoring(secretCount: nil)
      changed.stamp(version: writer.nextVersion(), created: existing.credential.created)
      try writer.replace(existing.item, by: changed, secret: nil)
      return (changed, [CredentialChange(identity, .updated)])
    }
  }

  /// Gives a credential another name; see the protocol.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - newIdentity: What names it from then on; another program's item of this name counts as taken.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The credential as it is now.
  /// - Throws: ``KeychainError`` as the protocol says, with ``KeychainError/Code/refused`` for another
  ///   program's item.
  @discardableResult
  public func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try change { writer throws(KeychainError) in
      let existing = try writer.existing(identity, expectedVersion)
      guard identity != newIdentity else { return (existing.credential, []) }
      var renamed = try existing.credential.renamed(newIdentity)
      guard try writer.finder.item(newIdentity) == nil else { throw .alreadyExists(newIdentity) }
      renamed.stamp(version: writer.nextVersion(), created: existing.credential.created)
      try writer.replace(existing.item, by: renamed, secret: nil)
      return (
        renamed, [CredentialChange(identity, .removed), CredentialChange(newIdentity, .added)]
      )
    }
  }

  /// Removes a credential; see the protocol.
  ///
  /// - Parameters:
  ///   - identity: What names the credential. If there is none of ours, another program's item of this
  ///     name is removed.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: `false` if there was none.
  /// - Throws: ``KeychainError`` as the protocol says, with ``KeychainError/Code/refused`` if the
  ///   provider asks before it removes anything, and nobody may be asked.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    try change { writer throws(KeychainError) in
      guard let existing = try writer.finder.item(identity) else { return (false, []) }
      try existing.credential.checkVersion(expectedVersion)
      try writer.remove(existing.item)
      return (true, [CredentialChange(identity, .removed)])
    }
  }

  /// Makes a change while no other store of the user does, and tells the observers.
  private func change<Value>(
    _ body: (borrowing ItemWriter) throws(KeychainError) -> (Value, [CredentialChange])
  ) throws(KeychainError) -> Value {
    let (value, changes) = try run { operation throws(KeychainError) in
      // Before the lock, since somebody may be asked.
      let finder = try ItemFinder.creating(operation)
      let lock = try WriterLock(
        environment: configuration.environment, Deadline(after: configuration.deadline))
      operation.restartDeadline()
      return try body(ItemWriter(finder, lock, announcingTo: watch))
    }
    for change in changes { watch.observers.notify(change) }
    return value
  }
}

extension ItemWriter {
  /// Puts a credential in the place of our item, or adds it next to another program's.
  fileprivate borrowing func put(
    _ credential: Credential, secret: SharedSecret, replacing existing: FoundItem?,
    keepsDates: Bool = false
  ) throws(KeychainError) -> (MergedCredential, [CredentialChange]) {
    var stored = credential
    let own = existing.flatMap { $0.isOurs ? $0 : nil }
    stored.stamp(
      version: nextVersion(), created: own?.credential.created, keepsDates: keepsDates)
    if let own {
      try replace(own.item, by: stored, secret: secret)
    } else {
      try create(stored, secret: secret)
    }
    return (
      MergedCredential(credential: stored, replaced: existing?.credential),
      [CredentialChange(credential.identity, own == nil ? .added : .updated)]
    )
  }
}

extension Credential {
  /// Checks what every store demands, and what no desktop keyring can promise.
  func checkStoring(secretCount: Int?) throws(KeychainError) {
    try checkRules(secretCount: secretCount)
    guard accessibility == .whenPasscodeSetThisDeviceOnly else { return }
    throw KeychainError(
      .refused, "the desktop keyring cannot promise \(accessibility)",
      recovery: "use the vault, or another accessibility")
  }
}
