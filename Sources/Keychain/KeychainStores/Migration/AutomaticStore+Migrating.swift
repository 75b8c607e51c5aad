public import KeychainCredentials
public import KeychainSecretService
internal import KeychainVault
internal import PrephirencesSystem

extension AutomaticStore {
  /// Returns a migration between two of the stores.
  ///
  /// When everything of a service is in the target, the target is recorded as the service's store,
  /// and programs find it there. A vault that is named by its path is not the usual store of any
  /// service, so a move to it records nothing. A service that has a third store keeps it, and none
  /// of its credentials is copied: they would not be found any more.
  ///
  /// - Parameters:
  ///   - source: Where the credentials are.
  ///   - target: Where the credentials go.
  /// - Returns: A migration of everything. Limit it if needed, and run it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the two are the
  ///   same.
  public func migration(
    from source: StorePlace, to target: StorePlace
  ) throws(KeychainError) -> CredentialMigration {
    guard source != target else {
      throw KeychainError(
        .invalidArgument, "what is to move is in \(target.words) already",
        recovery: "name two different stores")
    }
    var migration = CredentialMigration(from: store(at: source), to: store(at: target))
    migration.state = state
    migration.deadline = configuration.vault.deadline
    // Moves to or from a named vault are not recorded, so notes cannot say who deleted what.
    if !isVaultNamed, !target.endsWithSession {
      migration.notes = MigrationNotes(CopyNotes(state), from: source, to: target)
    }
    migration.mayChangeOver = { [self] identity throws(KeychainError) in
      try checkPlace(of: ServiceName(identity), isOneOf: [source, target])
    }
    migration.isChosen = { [self] identity throws(KeychainError) in
      // A record means the vault at its usual place.
      guard !isVaultNamed || target != .vault else { return false }
      return try records.place(of: ServiceName(identity)) == target
    }
    migration.whenComplete = { [self] identity throws(KeychainError) in
      try changeOver(ServiceName(identity), to: target)
    }
    return migration
  }

  /// Throws if a service has its credentials in neither of the two stores.
  private func checkPlace(
    of service: ServiceName, isOneOf places: [StorePlace]
  ) throws(KeychainError) {
    guard !isVaultNamed, let own = try records.place(of: service), !places.contains(own) else {
      return
    }
    throw KeychainError(
      .refused, "\(service) has its credentials in \(own.words)",
      recovery: "move them first, and name their collection with \(.nameCollection)")
  }

  /// Records a place as the one of a service.
  private func changeOver(_ service: ServiceName, to place: StorePlace) throws(KeychainError) {
    guard !place.endsWithSession else { return }
    if isVaultNamed {
      // The service's own store may be another vault, which keeps its credentials.
      guard place != .vault, try records.place(of: service) == nil, try canRecord() else { return }
      _ = try records.record(place, for: service)
    } else if try canRecord() {
      guard try records.place(of: service) != place else { return }
      try records.move(service, to: place)
    } else if place != .vault {
      throw KeychainError(
        .refused,
        "\(service) would not be found in \(place.words), as nothing can be recorded without device.key",
        recovery: "put device.key back, or make a new one with \(.addSlot(.device))")
    }
  }

  private var isVaultNamed: Bool {
    configuration.vault.path != nil
      || configuration.vault.environment.isSet("KEYCHAIN_VAULT")
  }
}

// Leaves a desktop keyring that is gone for good.
extension AutomaticStore {
  /// Makes the vault the store of services whose desktop keyring is gone for good.
  ///
  /// Only the records of the services change. What the keyring has, if it comes back, stays there;
  /// a migration can copy it then.
  ///
  /// - Parameters:
  ///   - identity: A credential of the service or server; `nil` for all that have their store in the
  ///     keyring.
  ///   - collection: The collection of the keyring; `nil` for any.
  /// - Returns: The number of services and servers that had their store there.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if the keyring can be read and
  ///   has credentials of them, ``KeychainError/Code/timedOut`` if it is silent, or
  ///   ``KeychainError/Code/busy`` if programs keep writing.
  @discardableResult
  public func abandonKeyring(
    serviceOf identity: CredentialIdentity? = nil,
    collection: SecretServiceStore.Collection? = nil
  ) throws(KeychainError) -> Int {
    let service = identity.map { ServiceName($0) }
    func isLeft(_ place: StorePlace) -> Bool {
      guard case .secretService(let own) = place else { return false }
      return collection.map { $0 == own } ?? true
    }
    let places =
      if let service { [try records.place(of: service)].compactMap(\.self) } else {
        try records.all().places
      }
    for place in Set(places) where isLeft(place) { try checkIsGone(place, service) }
    let lock = try choiceLock.exclusive(within: configuration.vault.deadline)
    var count = 0
    if let service {
      guard let place = try records.place(of: service), isLeft(place) else { return 0 }
      try records.move(service, to: .vault)
      count = 1
    } else {
      count = try records.moveAll(where: isLeft, to: .vault)
    }
    // Programs that read in the keyring look again.
    try lock.beginGeneration()
    return count
  }

  /// Throws if a collection of the keyring can be read without asking, and has our credentials.
  private func checkIsGone(
    _ place: StorePlace, _ service: ServiceName?
  ) throws(KeychainError) {
    guard case .secretService(let collection) = place else { return }
    var quiet = configuration.secretService
    quiet.collection = collection
    quiet.interaction = .denied
    let keyring = SecretServiceStore(configuration: quiet)
    switch keyring.access() {
    case .none, .afterQuestion: return
    case .unknown(let failure): throw failure
    case .free:
      var query = service?.query ?? CredentialQuery()
      query.accessGroup = nil
      guard try keyring.search(query).credentials.contains(where: { !$0.isOfOtherProgram }) else {
        return
      }
      throw KeychainError(
        .refused,
        "\(place.words) can be read, and has credentials that would not be found any more",
        recovery: "move them with \(.migrate)")
    }
  }
}
