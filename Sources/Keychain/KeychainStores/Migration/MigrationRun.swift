internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesSystem

/// One run of a migration, in phases.
struct MigrationRun {
  let migration: CredentialMigration
  let isDryRun: Bool
  var ledger = MigrationLedger()
  private(set) var report = MigrationReport()

  /// The unchanged copies that earlier runs left in the target.
  private var earlierCopies: [Credential] = []

  /// The originals of the copies that this run has made.
  var copied: [Credential] = []

  /// The two stores, which ask nothing while others wait.
  private(set) var source: any CredentialStore
  private(set) var target: any CredentialStore

  private let progress: ((VaultProgress) -> Void)?
  private var total = 0
  private var done = 0

  init(
    _ migration: CredentialMigration, isDryRun: Bool = false,
    progress: ((VaultProgress) -> Void)?
  ) {
    self.migration = migration
    source = migration.source
    target = migration.target
    self.isDryRun = isDryRun
    self.progress = progress
  }

  /// Returns what a migration would do.
  mutating func rehearse() throws(KeychainError) -> MigrationReport {
    try open()
    let listed = try copyAll()
    try findCompleteServices(of: listed)
    if migration.removesSource { report.removedCount = removable(listed).count }
    return finished()
  }

  /// Copies, changes services over, and removes.
  mutating func move() throws(KeychainError) -> MigrationReport {
    try open()
    source = migration.source.quiet(forbiddingDialogs: true)
    target = migration.target.quiet(forbiddingDialogs: true)
    var isRepeated = false
    try Attempt.repeating { () throws(KeychainError) -> Attempt<Void> in
      try Attempt { () throws(KeychainError) in
        if isRepeated { try askAboutItems() }
        isRepeated = true
        let lock = try ChoiceLock(migration.state).exclusive(within: migration.deadline)
        defer { extendLifetime(lock) }
        try changeOver()
      }
    }
    source = migration.source
    target = migration.target
    try leaveSource()
    return finished()
  }

  /// Opens both stores, and checks them before anything is changed.
  private mutating func open() throws(KeychainError) {
    try source.requireReadableAndIntact()
    let leaving = try listing().filter(canLeave)
    try checkTexts(leaving)
    let requirement = leaving.map(\.accessibility.unlockRequirement).max()
    try target.makeReadable(migration.selection, requirement ?? .nothing)
  }

  /// Lets the stores ask about each item, as some providers do, so that they need not ask later.
  private mutating func askAboutItems() throws(KeychainError) {
    // A vault doesn't; it could ask for its passphrase each time.
    let stores = [migration.source, migration.target].filter { !($0 is Vault) }
    for identity in try listing().filter(canLeave).map(\.identity) {
      do throws(KeychainError) {
        for store in stores { _ = try store.secret(for: identity) }
      } catch { guard error.concernsOneCredential || error.code == .noStore else { throw error } }
    }
  }

  private func checkTexts(_ leaving: [Credential]) throws(KeychainError) {
    let tooLong = leaving.filter(\.exceedsMetadataLimit).map(\.identity.shortDescription)
    if let error = KeychainError(
      tooLong: tooLong, recovery: "shorten their texts, or move other services by their names")
    {
      throw error
    }
  }

  /// Copies everything and changes services over, while nobody else writes through the choice of
  /// store.
  private mutating func changeOver() throws(KeychainError) {
    try copyAll()
    // Programs that bypass the choice may have written in the meantime.
    let listed = try listing()
    for credential in listed where !ledger.isCopied(credential) && !ledger.stays(credential) {
      ledger.note(.changedMeanwhile(credential), about: credential)
    }
    try findCompleteServices(of: listed)
    for service in report.completeServices { try migration.whenComplete?(service) }
    // Before removing anything: credentials that are missing in the source later were not deleted
    // by others.
    try forgetCopies()
  }

  /// Copies everything, or records why it stays; returns the credentials of the source.
  @discardableResult
  private mutating func copyAll() throws(KeychainError) -> [Credential] {
    let listed = try listing()
    try checkTexts(listed.filter(canLeave))
    ledger.beginAgain()
    do throws(KeychainError) {
      let found = try search(target, migration.selection, "target")
      ledger.inTarget = Set(found.credentials.map(\.identity))
      earlierCopies = try migration.notes?.copies(among: found.credentials) ?? []
    } catch let error where error.code == .noStore && !isDryRun {
      // The first write creates the default collection of a keyring.
    }
    done = 0
    total = listed.count
    for credential in listed {
      try copy(credential)
      countDone()
    }
    return listed
  }

  /// Removes copied credentials from the source if their service has changed over, and records
  /// later changes by others.
  ///
  /// These bypassed the choice, so only a person can decide about them.
  private mutating func leaveSource() throws(KeychainError) {
    guard migration.removesSource else { return }
    let rest = removable(try listing())
    total = done + rest.count
    for credential in rest {
      if try remove(credential) {
        report.removedCount += 1
      } else if !ledger.stays(credential), try source.credential(for: credential.identity) != nil {
        ledger.note(.cameLate(credential), about: credential)
      }
      countDone()
    }
  }

  private func removable(_ listed: [Credential]) -> [Credential] {
    let complete = Set(report.completeServices)
    return listed.filter { credential in
      complete.contains(credential.identity.withoutAccount) && !ledger.stays(credential)
        && (!credential.isOfOtherProgram || migration.removesOtherPrograms)
    }
  }

  /// Searches one of the stores, whose items must all be readable.
  private func search(
    _ store: any CredentialStore, _ query: CredentialQuery, _ name: String
  ) throws(KeychainError) -> CredentialSearchResult {
    var found = try store.search(query)
    if found.lockedCount > 0 {
      // It may have been locked since it was opened.
      try store.makeReadable(query)
      found = try store.search(query)
    }
    guard found.lockedCount == 0 else { throw .locked(found.lockedCount, in: name) }
    return found
  }

  /// Lists the credentials of the source that are to move.
  private mutating func listing(ofEveryGroup: Bool = false) throws(KeychainError) -> [Credential] {
    var query = migration.selection
    if ofEveryGroup { query.accessGroup = nil }
    let found = try search(source, query, "source")
    if let failure = found.failures.first { throw failure }
    report.damaged = found.damaged
    report.otherDeviceCount = found.otherDeviceCount
    let own = found.credentials.filter { !$0.isOfOtherProgram }
    let names = Set(own.map(\.identity))
    // Our item takes precedence, so another program's item of the same name cannot be read by name.
    let others = found.credentials.filter { $0.isOfOtherProgram && !names.contains($0.identity) }
    let listed = migration.includesOtherPrograms ? own + others : own
    report.otherProgramsCount = found.credentials.count - listed.count
    return listed
  }

  /// Separates the services with everything in the target from the others.
  private mutating func findCompleteServices(of listed: [Credential]) throws(KeychainError) {
    var services: [CredentialIdentity] = []
    var known: Set<CredentialIdentity> = []
    for credential in listed where known.insert(credential.identity.withoutAccount).inserted {
      services.append(credential.identity.withoutAccount)
    }
    // A damaged item may belong to any service.
    var incomplete = report.damaged.isEmpty ? [] : known
    for copy in try copiesWithoutOriginal(listed) {
      ledger.note(.wasDeleted(copy), about: copy)
      incomplete.insert(copy.identity.withoutAccount)
    }
    // One access group is not enough to judge a service.
    let all = migration.accessGroup == nil ? listed : try listing(ofEveryGroup: true)
    for credential in all where !ledger.isCopied(credential) && !ledger.isLeft(credential) {
      let service = credential.identity.withoutAccount
      guard known.contains(service), !incomplete.contains(service) else { continue }
      let isElsewhere = migration.accessGroup.map {
        !$0.hasSameBytes(as: credential.identity.accessGroup)
      }
      if isElsewhere == true, try isInTarget(credential.identity) { continue }
      incomplete.insert(service)
    }
    report.completeServices = services.filter { !incomplete.contains($0) }
    report.incompleteServices = services.filter(incomplete.contains)
  }

  private func finished() -> MigrationReport {
    var report = report
    report.copiedCount = ledger.count(of: .added) + ledger.count(of: .replaced)
    report.replacedCount = ledger.count(of: .replaced)
    report.unchangedCount = ledger.count(of: .unchanged)
    report.obstacles = ledger.obstacles
    let incomplete = Set(report.incompleteServices)
    report.strandedCount = ledger.count(of: { incomplete.contains($0.withoutAccount) })
    return report
  }

  private mutating func countDone() {
    done += 1
    progress?(VaultProgress(completed: done, total: total))
  }
}

extension CredentialMigration {
  fileprivate var selection: CredentialQuery {
    CredentialQuery(accessGroup: accessGroup, service: service, server: server)
  }
}

// Copies whose services have not changed over.
extension MigrationRun {
  /// Returns the unchanged copies, of this run and earlier ones, whose original is gone and whose
  /// service has not changed over.
  ///
  /// After a change-over, programs use the target, and credentials missing in the source were
  /// moved.
  func copiesWithoutOriginal(_ listed: [Credential]) throws(KeychainError) -> [Credential] {
    var copies = copied.compactMap { original in
      ledger.entries[original.identity].map { (credential: original, version: $0.targetVersion) }
    }
    if !migration.isOverwriting { copies += earlierCopies.map { ($0, $0.version) } }
    let names = Set(listed.map(\.identity))
    var found: [Credential] = []
    for (copy, version) in copies where !names.contains(copy.identity) {
      if try migration.isChosen?(copy.identity.withoutAccount) ?? false { continue }
      // A search shows an item of another program under only one of its names.
      guard try source.credential(for: copy.identity) == nil,
        try target.credential(for: copy.identity)?.version == version
      else { continue }
      found.append(copy)
    }
    return found
  }

  /// Forgets the copies of services that have changed over.
  func forgetCopies() throws(KeychainError) {
    guard let notes = migration.notes else { return }
    let complete = Set(report.completeServices)
    let copies = copied + earlierCopies
    if migration.service == nil, migration.server == nil, migration.accessGroup == nil {
      try notes.forget(allBut: copies.filter { !complete.contains($0.identity.withoutAccount) })
    } else {
      try notes.forget(copies.filter { complete.contains($0.identity.withoutAccount) })
    }
  }
}
