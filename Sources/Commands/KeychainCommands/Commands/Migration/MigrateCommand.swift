internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine

/// Moves credentials between the vault and the desktop keyring.
struct MigrateCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Move credentials between the vault and the desktop keyring",
    discussion: """
      Each credential is copied with all that is known about it, read back and compared. A service \
      changes its store when everything of it is in the other one; only then does --remove-source \
      remove what was copied. To resume a migration that was interrupted, run the same command \
      again.

      What must not leave the machine (accessibility …ThisDeviceOnly) stays in the vault, and so \
      does the service that it belongs to. What differs in the target is left alone unless \
      --overwrite is given. If the target already is the store of a service, a credential that is \
      missing there may have been deleted: it stays in the source unless --overwrite is given. \
      Without --access-group, credentials of every group are moved. Items that other programs \
      stored in the keyring are left to them; --service, --server and --other-programs copy them, \
      and only --other-programs removes them.

      If the keyring is gone for good, --abandon-source makes the vault the store of the services \
      that had theirs there, and copies and removes nothing. It is refused while the keyring can \
      be read and has credentials of them.

      The command ends with 44 if neither store has anything of the service or server named, with \
      79 if something was refused, with 75 if something differs, and with 65 if something is \
      damaged; everything else has moved then. With --dry-run, it ends with the same code.

      Example:
        \(keychainPath) migrate --from vault --to secret-service --dry-run
        \(keychainPath) migrate --from vault --to secret-service --remove-source
        \(keychainPath) migrate --from secret-service --to vault --service example.com
      """)

  @Option(
    help: .init("Where the credentials are: vault or secret-service", valueName: "kind"),
    completion: .list(StorePlace.names), transform: MigrateCommand.store)
  var from: StorePlace

  @Option(
    help: .init("Where to move them: vault or secret-service", valueName: "kind"),
    completion: .list(StorePlace.names), transform: MigrateCommand.store)
  var to: StorePlace

  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: .init("Only credentials of a service", valueName: "name"), completion: .services)
  var service: String?

  @Option(
    parsing: .unconditional,
    help: .init("Only internet passwords of a server", valueName: "host"), completion: .servers)
  var server: String?

  @OptionGroup var scope: ServiceScopeOptions

  @Option(
    name: [.customShort("g"), .customLong("access-group"), .customLong("group")],
    parsing: .unconditional,
    help: .init("Only credentials of an access group", valueName: "name"), completion: .accessGroups
  )
  var accessGroup: String?

  @Option(
    parsing: .unconditional,
    help: .init("The collection of the keyring, by its label", valueName: "name"))
  var collection: String?

  @Flag(help: "Remove from the source what is in the target")
  var removeSource = false

  @Flag(help: "Replace what differs in the target, and copy what may have been deleted there")
  var overwrite = false

  @Flag(help: "Also move what other programs stored in the keyring")
  var otherPrograms = false

  @Flag(help: "Make the vault the store of services whose keyring is gone for good; copy nothing")
  var abandonSource = false

  @Flag(help: "Only report what would be done")
  var dryRun = false

  @Flag(help: "Print what was done as JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  var isOfVaultOnly: Bool { false }

  func validate() throws {
    if from == to { throw ValidationError(UsageText.sameStores) }
    if collection?.isEmpty == true {
      throw ValidationError(UsageText.emptyCollection)
    }
    if service != nil && server != nil {
      throw ValidationError(UsageText.serviceOrServerToMove)
    }
    if abandonSource,
      from == .vault || removeSource || overwrite || otherPrograms || dryRun || json
        || accessGroup != nil
    {
      throw ValidationError(UsageText.abandonAlone)
    }
    try scope.check(isServiceNamed: service != nil || server != nil)
  }

  func perform(in session: Session) throws {
    guard !abandonSource else { return try abandon(in: session) }
    let migration = try migration(in: session)
    let report = try report(of: migration, in: session)
    let isThereAlready = report.isEmpty ? try isInTarget(of: migration) : false
    if json {
      try session.output.write(json: report.json(from: from, to: to, isDryRun: dryRun))
    }
    if isThereAlready {
      session.interface.say(MigrationText.hasMoved(named, to: to))
    } else {
      describe(report, session.interface)
      if report.removedCount > 0, !dryRun,
        try session.stores.keepsRemovedItems(at: inCollection(from))
      {
        session.interface.report(.removedItemKept)
      }
    }
    if let failure = KeychainError(incomplete: report, from: from, isDryRun: dryRun) {
      throw failure
    }
  }

  private func abandon(in session: Session) throws {
    let service = scope.narrow(CredentialQuery(service: service, server: server)).service
    let identity =
      service.map { CredentialIdentity.genericPassword(service: $0, account: "") }
      ?? server.map {
        CredentialIdentity(.internetPassword(InternetPassword(server: $0, account: "")))
      }
    let count = try session.stores.abandonKeyring(
      serviceOf: identity, collection: collection.map { .named($0) })
    session.interface.say(MigrationText.abandoned(count))
  }

  private func report(
    of migration: CredentialMigration, in session: Session
  ) throws -> MigrationReport {
    var hasBegun = false
    do {
      return try session.withProgress { show in
        let progress: (VaultProgress) -> Void = {
          hasBegun = true
          show($0)
        }
        return try dryRun
          ? migration.rehearse(progress: progress) : migration.run(progress: progress)
      }
    } catch let error as KeychainError {
      if hasBegun, !dryRun { session.interface.say(MigrationText.goesOn) }
      throw error
    }
  }

  private func migration(in session: Session) throws -> CredentialMigration {
    var migration = try session.stores.migration(from: inCollection(from), to: inCollection(to))
    migration.service = scope.narrow(CredentialQuery(service: service, server: server)).service
    migration.server = server
    migration.accessGroup = accessGroup
    migration.isOverwriting = overwrite
    migration.includesOtherPrograms = otherPrograms || service != nil || server != nil
    migration.removesSource = removeSource
    migration.removesOtherPrograms = otherPrograms
    return migration
  }

  private var named: ServiceName? {
    service.map { ServiceName(.service, $0) } ?? server.map { ServiceName(.server, $0) }
  }

  /// Whether a given service or server has credentials only in the target; `false` if none is
  /// given.
  private func isInTarget(of migration: CredentialMigration) throws -> Bool {
    guard let named else { return false }
    let query = CredentialQuery(accessGroup: accessGroup, service: service, server: server)
    var found = CredentialSearchResult(credentials: [])
    do {
      found = try migration.target.search(query)
    } catch {
      // The keyring may not have the collection yet.
      guard error.code == .noStore else { throw error }
    }
    guard found.credentials.isEmpty else { return true }
    guard found.damaged.isEmpty else { throw KeychainError.damagedItems(found.damaged) }
    throw KeychainError.nothingToMove(named)
  }

  private func describe(_ report: MigrationReport, _ interface: UserInterface) {
    for obstacle in report.obstacles { interface.say(MigrationText.stays(obstacle)) }
    for name in report.damaged { interface.say(MigrationText.isDamaged(name)) }
    for service in report.incompleteServices {
      interface.say(MigrationText.staysBehind(service, outOf: to, isDryRun: dryRun))
    }
    interface.say(MigrationText.summary(of: report, to: to, isDryRun: dryRun))
    if report.strandedCount > 0, !dryRun {
      interface.say(MigrationText.isInBoth(report.strandedCount))
    }
    if report.otherDeviceCount > 0 {
      interface.say(Words.ofOtherDevices(report.otherDeviceCount))
    }
    if report.otherProgramsCount > 0 {
      interface.say(MigrationText.leftToOthers(report.otherProgramsCount))
    }
    if !removeSource, !dryRun, !report.completeServices.isEmpty {
      interface.hint(MigrationText.removeSource(from))
    }
  }

  private func inCollection(_ place: StorePlace) -> StorePlace {
    guard place != .vault, let collection else { return place }
    return .secretService(.named(collection))
  }

  private static func store(_ name: String) throws -> StorePlace {
    guard let place = StorePlace(name: name) else {
      throw ValidationError(UsageText.storeToMove)
    }
    return place
  }
}
