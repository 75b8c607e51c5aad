public import KeychainCredentials
public import KeychainSecrets
package import PrephirencesSystem

extension SecretServiceStore: BuiltInStore {
  // A keyring's file can be copied to another machine, where its password opens it, so items are
  // not bound to this machine.

  package var environment: EnvironmentVariables { EnvironmentVariables(configuration.environment) }

  /// Stores a credential; see the protocol.
  ///
  /// Another program's item of this name stays unchanged; ours takes precedence from then on. The
  /// mode also applies to another program's item.
  ///
  /// - Throws: ``KeychainError`` as the protocol says, with ``KeychainError/Code/refused`` for
  ///   ``Accessibility/whenPasscodeSetThisDeviceOnly``, which no desktop keyring supports.
  @discardableResult
  public func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    let request = try StoreRequest(credential, secretCount: secret.count, mode: mode)
    return try set(request, secret: secret).credential
  }

  /// Stores a secret, and keeps the attributes of its credential; see the protocol.
  ///
  /// The attributes of another program's item are kept in ours, which takes precedence from then
  /// on. If several items of other programs have this name, no attributes are kept. The mode also
  /// applies to another program's item.
  ///
  /// - Throws: As ``set(_:secret:mode:)``.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential {
    let request = try StoreRequest(
      update, into: identity, secretCount: secret.count, mode: mode)
    return try set(request, secret: secret)
  }

  package func set(
    _ request: StoreRequest, secret: borrowing SecretBytes
  ) throws(KeychainError) -> MergedCredential {
    try request.new.accessibility.checkKeyring()
    let encoded = try SharedSecret(StoredText.encode(secret))
    return try change(createsCollection: true) { writer throws(KeychainError) in
      let (existing, hasSeveralOthers) = try writer.finder.existing(for: request)
      try request.mode.check(existing?.credential, identity: request.identity)
      let new = try request.credential(replacing: existing?.credential)
      try new.accessibility.checkKeyring()
      var (result, changes) = try writer.put(
        new, secret: encoded, replacing: existing, keepsDates: request.keepsDates)
      result.isNextToOtherPrograms = hasSeveralOthers || existing?.isOurs == false
      return (result, changes)
    }
  }

  /// Changes a credential without its secret; see the protocol.
  ///
  /// - Throws: ``KeychainError`` as the protocol says, with ``KeychainError/Code/refused`` for
  ///   another program's item.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try change { writer throws(KeychainError) in
      let existing = try writer.existing(identity, expectedVersion)
      var changed = update.applied(to: existing.credential)
      try changed.checkRules(secretCount: nil)
      try changed.accessibility.checkKeyring()
      changed.stamp(version: writer.nextVersion(), created: existing.credential.created)
      try writer.replace(existing.item, by: changed, secret: nil)
      return (changed, [CredentialChange(identity, .updated)])
    }
  }

  /// Renames a credential; see the protocol.
  ///
  /// Another program's item must not have the new identity either.
  ///
  /// - Throws: ``KeychainError`` as the protocol says, with ``KeychainError/Code/refused`` for
  ///   another program's item.
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
  /// - Throws: ``KeychainError`` as the protocol says, with ``KeychainError/Code/refused`` for
  ///   another program's item, or if the provider asks before it removes anything, and no person
  ///   may be asked.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    try remove(identity, expectedVersion: expectedVersion, includingOtherPrograms: false)
  }

  /// Removes a credential; see the protocol.
  ///
  /// Another program's item of this name is removed if it is included and we have none.
  ///
  /// - Throws: As ``remove(_:expectedVersion:)``.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?, includingOtherPrograms: Bool
  ) throws(KeychainError) -> Bool {
    try change { writer throws(KeychainError) in
      guard let existing = try writer.finder.item(identity) else { return (false, []) }
      // First, because a caller who expects a version of ours must learn that it is gone.
      try existing.credential.checkVersion(expectedVersion)
      guard existing.isOurs || includingOtherPrograms else {
        throw .itemOfOtherProgram(
          existing,
          "remove it with that program, or with \(.deleteItem(identity, ofOtherProgram: true))")
      }
      try writer.remove(existing.item, identity)
      return (true, [CredentialChange(identity, .removed)])
    }
  }

  /// Makes a change while no other store of the user does, and notifies the observers.
  ///
  /// Without the collection, there is nothing to change: only adding an item creates it.
  private func change<Value>(
    createsCollection: Bool = false,
    _ body: (borrowing ItemWriter) throws(KeychainError) -> (Value, [CredentialChange])
  ) throws(KeychainError) -> Value {
    let (value, changes) = try run { operation throws(KeychainError) in
      // Done before locking, because a person may be asked.
      let finder: ItemFinder
      if createsCollection {
        finder = try .creating(operation)
      } else {
        finder = try ItemFinder(operation)
        try finder.unlockIfNeeded()
      }
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
  /// Replaces our item by a credential, or adds it next to another program's item.
  fileprivate borrowing func put(
    _ credential: Credential, secret: SharedSecret, replacing existing: FoundItem?,
    keepsDates: Bool = false
  ) throws(KeychainError) -> (MergedCredential, [CredentialChange]) {
    var stored = credential
    let own = existing.flatMap { $0.isOurs ? $0 : nil }
    stored.stamp(version: nextVersion(), created: own?.credential.created, keepsDates: keepsDates)
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

extension ItemFinder {
  /// Returns the item that a request replaces or goes next to, and whether there are several of
  /// other programs instead.
  fileprivate func existing(
    for request: StoreRequest
  ) throws(KeychainError) -> (item: FoundItem?, hasSeveralOthers: Bool) {
    let (identity, replacesAny) = (request.identity, request.mode == .addOrReplace)
    if request.update == nil, replacesAny { return (try ownItem(identity), false) }
    do throws(KeychainError) {
      // When many credentials come from another store, searching for each under every name that a
      // program could have used would take long; the copy takes precedence anyway.
      return (try item(identity, alsoByAliases: !request.keepsDates), false)
    } catch let error where error.code == .ambiguous && replacesAny {
      // If several other programs have an item of this name, ours takes precedence from then on.
      let own = try ownItem(identity)
      return (own, own == nil)
    }
  }
}

extension Accessibility {
  /// Fails if no desktop keyring can promise it.
  func checkKeyring() throws(KeychainError) {
    guard self == .whenPasscodeSetThisDeviceOnly else { return }
    throw KeychainError(
      .refused, "the desktop keyring cannot promise \(self)",
      recovery: "use \(.useVault), or another accessibility")
  }
}

extension SecretServiceStore {
  /// Checks that a credential could be stored now: the collection is available and unlocked, the
  /// provider accepts encrypted secrets, and the condition of the mode holds.
  ///
  /// Nothing is stored. A question that is asked here is not asked again when storing.
  package func checkStoring(
    _ identity: CredentialIdentity, _ accessibility: Accessibility, mode: StoreMode
  ) throws(KeychainError) {
    try accessibility.checkKeyring()
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder.creating(operation)
      _ = try operation.session()
      guard mode != .addOrReplace else { return }
      try mode.check(try finder.item(identity)?.credential, identity: identity)
    }
  }

  // For the choice between this and other stores.

  /// The availability of the collection.
  package enum Access: Sendable {
    /// It can be used without asking.
    case free

    /// It is locked, and can be used after a person has answered; otherwise, operations fail with
    /// this error.
    case afterQuestion(KeychainError)

    /// There is no collection. For the first credential, the provider may ask for one.
    case withoutCollection(KeychainError)

    /// It cannot be used: there is none here for this program.
    case none(KeychainError)

    /// It is unknown: no valid answer came in time.
    case unknown(KeychainError)
  }

  /// Whether the environment specifies a session bus, running or not.
  package var findsBus: Bool { (try? BusAddress(environment: configuration.environment)) != nil }

  /// Whether the provider could ask a person now.
  package var canPrompt: Bool { configuration.canPrompt }

  /// Whether the provider keeps removed items in a recycle bin, unless its database has none.
  ///
  /// KeePassXC does, without reporting it.
  package var keepsRemovedItems: Bool {
    (try? run { operation throws(KeychainError) in operation.connection.ownerIdentity.name })?
      .hasPrefix("keepassxc") ?? false
  }

  /// Probes the session bus as ``SecretServiceProbe/run(deadline:)`` does, with the store's
  /// environment and deadline.
  package func probe() -> SecretServiceProbe {
    SecretServiceProbe.run(environment: configuration.environment, deadline: configuration.deadline)
  }

  /// Finds out whether the collection can be used, and starts the provider if the bus can do that.
  ///
  /// No person is asked. Whatever can be unlocked without asking is unlocked.
  package func access() -> Access {
    var quiet = configuration
    quiet.interaction = .denied
    do throws(KeychainError) {
      return try SecretServiceStore(configuration: quiet).run { operation throws(KeychainError) in
        try Self.access(operation)
      }
    } catch { return error.isAbsenceOfKeyring ? .none(error) : .unknown(error) }
  }

  private static func access(_ operation: ServiceOperation) throws(KeychainError) -> Access {
    do throws(KeychainError) {
      try ItemFinder(operation).unlockIfNeeded()
      return .free
    } catch {
      if error.code == .locked { return .afterQuestion(error) }
      guard error == operation.noCollection else { throw error }
      return .withoutCollection(error)
    }
  }
}

extension KeychainError {
  /// Whether an attempt to use the keyring showed that there is none here for this program.
  ///
  /// A keyring that is silent, whose answers are not valid, or whose program ends while it is
  /// asked, is not absent: it may have credentials.
  package var isAbsenceOfKeyring: Bool {
    code == .noStore && self != .providerEnded || self == .deniedByBus
  }
}
