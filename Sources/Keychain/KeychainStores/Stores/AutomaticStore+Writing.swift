public import KeychainCredentials
internal import KeychainSecretService
public import KeychainSecrets
public import KeychainVault

extension AutomaticStore {
  /// Stores a credential in the store of its service; see the protocol.
  ///
  /// A service without a store gets one.
  ///
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is
  ///   recorded and missing, with ``KeychainError/Code/refused`` for an accessibility that it
  ///   cannot guarantee, or with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    let request = try StoreRequest(credential, secretCount: secret.count, mode: mode)
    return try set(request, secret: secret).credential
  }

  /// Stores a secret in the store of its service, and keeps the other attributes of its credential;
  /// see the protocol.
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
    try changing(ServiceName(request.identity), adding: request) {
      _, store throws(KeychainError) in try store.set(request, secret: secret)
    }
  }

  /// Changes a credential in the store of its service; see the protocol.
  ///
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is
  ///   recorded and missing, or with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try changing(ServiceName(identity)) { _, store throws(KeychainError) in
      try store.update(identity, with: update, expectedVersion: expectedVersion)
    }
  }

  /// Renames a credential within the store of its service; see the protocol.
  ///
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is
  ///   recorded and missing, with ``KeychainError/Code/refused`` if the new service has another
  ///   store, or with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try changing(ServiceName(identity)) { decision, store throws(KeychainError) in
      let service = ServiceName(newIdentity)
      if ServiceName(identity) != service {
        // Read first, so that a failed renaming records nothing.
        guard let old = try store.credential(for: identity) else { throw .notFound(identity) }
        try old.checkVersion(expectedVersion)
        _ = try old.renamed(newIdentity)
        guard try store.credential(for: newIdentity) == nil else {
          throw .alreadyExists(newIdentity)
        }
      }
      return try reporting { notices throws(KeychainError) in
        if ServiceName(identity) != service { try give(service, placeOf: decision, &notices) }
        return try store.rename(identity, to: newIdentity, expectedVersion: expectedVersion)
      }
    }
  }

  /// Removes a credential from the store of its service, which keeps its store; see the protocol.
  ///
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/refused`` for another
  ///   program's item, with ``KeychainError/Code/noStore`` if the store is recorded and missing, or
  ///   with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    try remove(identity, expectedVersion: expectedVersion, includingOtherPrograms: false)
  }

  /// Removes a credential from the store of its service, even one that another program stored in
  /// its own form; see the protocol.
  ///
  /// - Throws: As ``remove(_:expectedVersion:)``.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?, includingOtherPrograms: Bool
  ) throws(KeychainError) -> Bool {
    var place = StorePlace.vault
    let isRemoved = try changing(ServiceName(identity)) { decision, store throws(KeychainError) in
      place = decision.place
      return try store.remove(
        identity, expectedVersion: expectedVersion, includingOtherPrograms: includingOtherPrograms)
    }
    if isRemoved, let notice = configuration.notice, keepsRemovedItems(at: place) {
      notice(.removedItemKept)
    }
    return isRemoved
  }

  /// Whether the program behind a store may keep items that are removed from it.
  package func keepsRemovedItems(at place: StorePlace) -> Bool {
    guard case .secretService(let collection) = place else { return false }
    return keyring(collection).keepsRemovedItems
  }
}

extension Notice {
  /// The program behind the desktop keyring may keep a removed item.
  package static let removedItemKept = Notice(
    kind: .removedItemKept,
    message: "KeePassXC keeps removed items with their secrets if its recycle bin is on",
    recovery: "empty the recycle bin there")
}

// Keeps a service in its store while a credential is changed there.
extension AutomaticStore {
  /// Makes a change in the store of a service, while no migration can move the service.
  ///
  /// An explicit choice applies wherever the service is, so it takes no lock.
  func changing<Result>(
    _ service: ServiceName, adding first: StoreRequest? = nil,
    _ body: (StoreDecision, any BuiltInStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    if let explicit = try chooser.explicit() {
      let own = ownPlace(of: service)
      let store = builtInStore(at: explicit.place)
      let result = try reporting { notices throws(KeychainError) in
        if own == nil { try recordIfFirst(explicit, service, adding: first, to: store, &notices) }
        observing.use(explicit.place, self)
        return try body(explicit, store)
      }
      if let own, own != explicit.place {
        configuration.notice?(.differs(service, explicit.place, own: own))
      }
      return result
    }
    // Existing credentials must be found; only a first credential may go to the vault instead.
    if first == nil { _ = try chooser.decisionForReading(service) }
    var decided: StoreDecision?
    do throws(KeychainError) {
      return try reporting { notices throws(KeychainError) in
        try changingLocked(service, adding: first, &decided, &notices, body)
      }
    } catch {
      throw decided.map { error.explained(by: $0, "the credentials of \(service)") } ?? error
    }
  }

  /// Makes a change that shares the lock of the choice.
  ///
  /// Its stores ask nothing under the lock. Their needs are met without it, and then everything is
  /// done again.
  private func changingLocked<Result>(
    _ service: ServiceName, adding first: StoreRequest?, _ decided: inout StoreDecision?,
    _ notices: inout [ChoiceNotice],
    _ body: (StoreDecision, any BuiltInStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    // Each keeps the keys that were gained for it.
    var stores: [StorePlace: any BuiltInStore] = [:]
    return try Attempt.repeating { () throws(KeychainError) -> Attempt<Result> in
      let lock = try choiceLock.shared(within: configuration.vault.deadline)
      defer { extendLifetime(lock) }
      var decision: StoreDecision
      switch try chooser.decisionAtHand(for: service, adding: first != nil) {
      case .done(let found): decision = found
      case .needs(let need): return .needs(need)
      }
      decided = decision
      let place = decision.place
      if observing.misses(place) { return .needs(Need { [self] in observing.use(place, self) }) }
      let store = stores[place] ?? builtInStore(at: place).quiet(forbiddingDialogs: false)
      stores[place] = store
      if decision.reason != .record {
        let recorded = try Attempt { () throws(KeychainError) in
          try recordIfFirst(decision, service, adding: first, to: store, &notices)
        }
        switch recorded {
        case .done(let found): decision = found
        case .needs(let need): return .needs(need)
        }
        decided = decision
        // Another process has recorded another store first.
        guard decision.place == place else { return .needs(Need {}) }
      }
      return try Attempt { () throws(KeychainError) in try body(decision, store) }
    }
  }

  /// Records the store of a service that has none, before its first credential is written; returns
  /// the decision that applies.
  ///
  /// Another process may have recorded another one first. The record is written before the
  /// credential, so that the credential is found even if the process is killed in between. The
  /// store is asked first whether it would accept the credential.
  @discardableResult
  fileprivate func recordIfFirst(
    _ decision: StoreDecision, _ service: ServiceName, adding first: StoreRequest?,
    to store: any CredentialStore, _ notices: inout [ChoiceNotice]
  ) throws(KeychainError) -> StoreDecision {
    guard let first, try decision.isExplicit ? decision.canBeRecorded : canRecord() else {
      return decision
    }
    if decision.place == .vault {
      // A replacement can be the first credential only next to another program's item.
      if case .replace = first.mode { return decision }
      // Every other decision for the vault was made because it has nothing of the service.
      let vaultMayHaveIt = decision.isExplicit || decision.reason == .vaultContents
      let mayExist = first.update != nil && vaultMayHaveIt
      if mayExist, try store.contains(first.identity) { return decision }
    }
    try store.checkStoring(first.identity, first.new.accessibility, mode: first.mode)
    return try record(decision, service, &notices)
  }

  /// Makes several changes of the credentials of one service (or server) in one step, if they are
  /// in the vault.
  ///
  /// The desktop keyring has no transactions: a program that writes several items there may be
  /// stopped after some. So a service in the keyring is refused, and nothing is changed.
  ///
  /// See ``KeychainVault/Vault/withTransaction(unlocking:_:)`` for what a transaction promises, and
  /// for when the closure runs again. No migration moves the service meanwhile.
  ///
  /// - Parameters:
  ///   - identity: A credential of the service. Credentials of other services are refused within
  ///     the transaction, because they may be in another store.
  ///   - requirement: The unlock state needed before the closure runs.
  ///   - body: Reads and changes credentials.
  /// - Throws: What `body` throws; ``KeychainError`` of the vault, or with
  ///   ``KeychainError/Code/refused`` if the service is kept in the desktop keyring.
  @discardableResult
  public func withTransaction<Result>(
    serviceOf identity: CredentialIdentity,
    unlocking requirement: Accessibility.UnlockRequirement = .nothing,
    _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result {
    // Asked first, so that a store that cannot do it is not recorded.
    let found = try decision(for: identity)
    let scope = TransactionScope(serviceOf: identity, adding: .whenUnlocked, unlocking: requirement)
    guard found.place == .vault, let result = try inOneStep(scope, body) else {
      throw KeychainError(
        .refused,
        "\(ServiceName(identity)) is kept in the desktop keyring, which has no transactions",
        recovery: "change its credentials one by one, or keep it in the vault")
    }
    return result
  }
}

extension AutomaticStore: TransactionalStore {
  /// Makes several changes of the credentials of one service in one step; `nil` if they are not in
  /// the vault.
  ///
  /// A service without a store gets one, as by storing its first credential, unless nothing is
  /// added.
  package func inOneStep<Result>(
    _ scope: TransactionScope, _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result? {
    let service = ServiceName(scope.identity)
    let first = try scope.accessibility.map { accessibility throws(KeychainError) in
      try StoreRequest(
        CredentialUpdate(accessibility: accessibility), into: scope.identity, secretCount: 0,
        mode: .addOrReplace)
    }
    let ofService = TransactionScope(
      serviceOf: scope.identity, adding: scope.accessibility, unlocking: scope.requirement,
      among: { ServiceName($0) == service })
    var thrown: (any Error)?
    do throws(KeychainError) {
      return try changing(service, adding: first) { _, store throws(KeychainError) in
        do {
          return try store.inOneStep(ofService, body)
        } catch let error as KeychainError {
          throw error
        } catch {
          thrown = error
          throw KeychainError(.cancelled, "the closure of the transaction failed")
        }
      }
    } catch { throw thrown ?? error }
  }
}
