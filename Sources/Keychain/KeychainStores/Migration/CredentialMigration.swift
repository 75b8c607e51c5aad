internal import FoundationEssentials
public import KeychainCredentials
public import KeychainSecretService
public import KeychainVault
internal import PrephirencesSystem

/// Moves credentials from one store to another, without losing or duplicating any.
///
/// Each credential is copied with its attributes, read back and compared. A service changes over to
/// the target when all its credentials are there. Only then are they removed from the source, each
/// at the version that was copied. If a migration is killed, run it again: it skips credentials
/// that are the same in the target.
///
/// If the target is already a service's store, everything of the service was copied before. A
/// credential that is missing in the target may have been removed by a program that uses the
/// target. So it is not copied again, but stays in the source and is reported, unless
/// ``isOverwriting`` is set. In the same way, if an original was removed from the source after it
/// was copied, by a killed run or before a question, the copy stays in the target and is reported,
/// and the service does not change over, unless ``isOverwriting`` is set. Items of other programs
/// are copied whenever ``includesOtherPrograms`` is set, because these programs need them in the
/// source anyway.
///
/// While it copies and changes the services over, the migration holds the lock of the choice of
/// store exclusively: programs that write through an ``AutomaticStore`` wait, and find the target
/// afterwards. Both stores are unlocked before. Changes that bypass the choice meanwhile or later
/// stay in the source and are reported.
///
/// ```swift
/// var migration = CredentialMigration(from: Vault(), to: SecretServiceStore())
/// migration.removesSource = true
/// let report = try migration.run()
/// ```
public struct CredentialMigration: Sendable {
  /// The store of the credentials.
  public let source: any CredentialStore

  /// The new store of the credentials.
  public let target: any CredentialStore

  /// Only credentials of this service; `nil` for any.
  public var service: String?

  /// Only internet passwords of this server; `nil` for any.
  public var server: String?

  /// Only credentials of this access group; `nil` for any.
  public var accessGroup: String?

  /// Whether to replace credentials in the target that differ.
  ///
  /// If the target is already a service's store, newer credentials in the target stay, and missing
  /// ones are copied, even if they were removed there.
  public var isOverwriting = false

  /// Whether to copy credentials that other programs stored in the source, too.
  public var includesOtherPrograms = false

  /// Whether to remove credentials from the source once their service has changed over.
  public var removesSource = false

  /// Whether ``removesSource`` also applies to credentials of other programs, which may still look
  /// for them there.
  public var removesOtherPrograms = false

  /// Called before a credential of a service or server is copied; if it throws, the service stays.
  package var mayChangeOver: (@Sendable (CredentialIdentity) throws(KeychainError) -> Void)?

  /// Called for each service whose credentials are all in the target, before any of them is removed
  /// from the source.
  ///
  /// The identity has the service or server, and an empty account.
  package var whenComplete: (@Sendable (CredentialIdentity) throws(KeychainError) -> Void)?

  /// Returns whether the target is already the store of a service or server.
  package var isChosen: (@Sendable (CredentialIdentity) throws(KeychainError) -> Bool)?

  /// Records the copies for the next run; `nil` if no service changes over.
  var notes: MigrationNotes?

  /// The folder of the locks of migrations and of the choice of store.
  package var state = StateFolder(environment: .process)

  /// How long to wait for programs that write, and for another migration.
  package var deadline = Vault.Configuration().deadline

  /// Creates a migration of everything.
  ///
  /// Neither end can be an ``AutomaticStore``, because a migration changes its choice. Use
  /// ``AutomaticStore/migration(from:to:)``, or the store at one of its places.
  public init(from source: any CredentialStore, to target: any CredentialStore) {
    self.source = source
    self.target = target
  }

  /// Moves the credentials, and returns what happened to them.
  ///
  /// If the source is a vault, it is verified first. A credential stays in the source, and so does
  /// its service, if it must not leave the machine, differs in the target, or is refused by one of
  /// the stores, or if a program that bypasses the choice changes it meanwhile. Everything else is
  /// moved.
  ///
  /// - Parameter progress: Called from time to time with the progress. Other programs may wait
  ///   until it returns.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if one of the stores is locked
  ///   (nothing was changed), ``KeychainError/Code/tooLarge`` if credentials have longer texts than
  ///   a store allows (nothing was changed), ``KeychainError/Code/noStore``,
  ///   ``KeychainError/Code/damaged`` if a vault is not intact,
  ///   ``KeychainError/Code/invalidArgument`` if an end is an ``AutomaticStore``, or
  ///   ``KeychainError/Code/busy`` if another migration does not end, or a program does not stop
  ///   writing. Copies made until then stay, and the next run finds them.
  @discardableResult
  public func run(
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> MigrationReport {
    try checkEnds()
    let lock = try StateLock("migration.lock", in: state, within: deadline)
    defer { extendLifetime(lock) }
    var run = MigrationRun(self, progress: progress)
    return try run.move()
  }

  /// Returns what a migration would do, without changing anything.
  ///
  /// - Throws: As ``run(progress:)``.
  public func rehearse(
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> MigrationReport {
    try checkEnds()
    var run = MigrationRun(self, isDryRun: true, progress: progress)
    return try run.rehearse()
  }

  /// A store that writes through the choice would wait for a lock that the migration holds.
  private func checkEnds() throws(KeychainError) {
    guard source is AutomaticStore || target is AutomaticStore else { return }
    throw KeychainError(
      .invalidArgument, "a migration is between two stores, and not through the choice of store",
      recovery: "use AutomaticStore.migration(from:to:)")
  }
}

extension AutomaticStore {
  /// Returns a migration of everything between two of the stores; limit it if needed, and run it.
  ///
  /// When everything of a service is in the target, the target is recorded as the service's store,
  /// and programs find it there. A vault that is named by its path is not the usual store of any
  /// service, so a move to it records nothing. A service that has a third store keeps it, and none
  /// of its credentials is copied, because they would not be found any more.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the two are the
  ///   same.
  public func migration(
    from source: StorePlace, to target: StorePlace
  ) throws(KeychainError) -> CredentialMigration {
    guard source != target else {
      throw KeychainError(
        .invalidArgument, "the credentials to move are in \(target.words) already",
        recovery: "name two different stores")
    }
    var migration = CredentialMigration(from: store(at: source), to: store(at: target))
    migration.state = state
    migration.deadline = configuration.vault.deadline
    // Moves to or from a named vault are not recorded, so notes cannot say who deleted a
    // credential.
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
        "\(service) would not be found in \(place.words), as nothing can be recorded without "
          + "device.key",
        recovery: "put device.key back, or make a new one with \(.addSlot(.device))")
    }
  }

  private var isVaultNamed: Bool {
    configuration.vault.path != nil || configuration.vault.environment.isSet("KEYCHAIN_VAULT")
  }

  // Leaves a desktop keyring that is permanently gone.

  /// Makes the vault the store of services whose desktop keyring is permanently gone; returns the
  /// number of services and servers that had their store there.
  ///
  /// Only the records of the services change. If the keyring comes back, its credentials are still
  /// there; a migration can copy them then.
  ///
  /// - Parameters:
  ///   - identity: A credential of the service or server; `nil` for all that have their store in
  ///     the keyring.
  ///   - collection: The collection of the keyring; `nil` for any.
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
    defer { extendLifetime(lock) }
    if let service {
      guard let place = try records.place(of: service), isLeft(place) else { return 0 }
      try records.move(service, to: .vault)
      return 1
    }
    return try records.moveAll(where: isLeft, to: .vault)
  }

  /// Throws if a collection of the keyring can be read without asking, and has our credentials.
  private func checkIsGone(_ place: StorePlace, _ service: ServiceName?) throws(KeychainError) {
    guard case .secretService(let collection) = place else { return }
    var quiet = configuration.secretService
    quiet.collection = collection
    quiet.interaction = .denied
    let keyring = SecretServiceStore(configuration: quiet)
    switch keyring.access() {
    case .none, .afterQuestion, .withoutCollection: return
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
