internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesSystem

/// One run of a migration, in phases.
struct MigrationRun {
  let migration: CredentialMigration
  let isDryRun: Bool
  var ledger = MigrationLedger()
  private(set) var report = MigrationReport()

  /// The unchanged copies that an earlier run left in the target.
  private(set) var earlierCopies: [Credential] = []

  /// The copies that this run has recorded.
  var noted: [Credential] = []

  /// The two stores, which ask nothing while others wait.
  private(set) var source: any CredentialStore
  private(set) var target: any CredentialStore

  /// Whether others wait.
  private(set) var isAlone = false

  private let progress: ((VaultProgress) -> Void)?
  private var total = 0
  private var done = 0
  private var shown = 0

  /// How often the source may turn out to have changed.
  private static let roundLimit = 20

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

  /// Checks both stores before anything is changed.
  mutating func begin() throws(KeychainError) {
    try source.requireReadableAndIntact()
    let leaving = try listing().filter(canLeave)
    let tooLong = leaving.filter(\.exceedsMetadataLimit).map(\.identity.shortDescription)
    if let error = KeychainError(
      tooLong: tooLong, recovery: "shorten their texts, or move other services by their names")
    {
      throw error
    }
    let requirement = leaving.map(\.accessibility.unlockRequirement).max()
    try target.makeReadable(migration.selection, requirement ?? .nothing)
    do throws(KeychainError) {
      let found = try target.search(migration.selection)
      guard found.lockedCount == 0 else { throw .locked(found.lockedCount, in: "target") }
      ledger.inTarget = Set(found.credentials.map(\.identity))
      earlierCopies = try migration.notes?.copies(among: found.credentials) ?? []
    } catch let error where error.code == .noStore && !isDryRun {
      // The first write creates the default collection of a keyring.
    }
  }

  /// Finds out what would be done.
  mutating func rehearse() throws(KeychainError) -> MigrationReport {
    let listed = try listing()
    start(listed.count)
    for credential in listed {
      try copy(credential)
      countDone()
    }
    try findCompleteServices(of: listed)
    if migration.removesSource { report.removedCount = removable(listed).count }
    return finished()
  }

  /// Copies, changes services over, and removes.
  mutating func move() throws(KeychainError) -> MigrationReport {
    try copyAhead()
    try changeOver()
    try leaveSource()
    return finished()
  }

  /// Copies while others continue, as long as each round leaves less to do.
  private mutating func copyAhead() throws(KeychainError) {
    var count = Int.max
    while true {
      let (_, newCount) = try copyWhatIsNew()
      guard 0 < newCount, newCount < count else { return }
      count = newCount
    }
  }

  /// Changes services over while nobody else writes through the choice of store.
  ///
  /// The caller's closure is not called meanwhile, because it may wait for a terminal.
  private mutating func changeOver() throws(KeychainError) {
    let choiceLock = ChoiceLock(migration.state)
    isAlone = true
    source = migration.source.quiet(forbiddingDialogs: true)
    target = migration.target.quiet(forbiddingDialogs: true)
    try Attempt.repeating { () throws(KeychainError) -> Attempt<Void> in
      let lock = try choiceLock.exclusive(within: migration.deadline)
      return try Attempt { () throws(KeychainError) in
        try findCompleteServices(of: try copyUntilNothingIsNew())
        for service in report.completeServices { try migration.whenComplete?(service) }
        // Before removing anything: what the source lacks later was not deleted by others.
        try forgetCopies()
        // Before removing anything: programs that read in the source look again.
        try lock.beginGeneration()
      }
    }
    (source, target, isAlone) = (migration.source, migration.target, false)
    if shown < done { showProgress() }
  }

  /// Copies everything, until a listing of the source shows nothing new: others may bypass the
  /// choice.
  ///
  /// Returns that listing.
  private mutating func copyUntilNothingIsNew() throws(KeychainError) -> [Credential] {
    for _ in 0..<Self.roundLimit {
      let (listed, newCount) = try copyWhatIsNew()
      if newCount == 0 { return listed }
    }
    throw .keepsChanging
  }

  /// Copies what is new in the source.
  ///
  /// Returns what was in the source before, and how many of its credentials were new.
  private mutating func copyWhatIsNew() throws(KeychainError) -> ([Credential], Int) {
    let listed = try listing()
    try withdraw(allBut: listed)
    let new = listed.filter { !ledger.isSettled($0) }
    start(new.count)
    for credential in new {
      try copy(credential)
      countDone()
    }
    return (listed, new.count)
  }

  /// Removes copied credentials from the source if their service has changed over, and records what
  /// others have written there since.
  ///
  /// They bypassed the choice, so only a person can decide about it.
  private mutating func leaveSource() throws(KeychainError) {
    guard migration.removesSource else { return }
    let rest = removable(try listing())
    start(rest.count)
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

  /// Lists the credentials of the source that are to move.
  private mutating func listing(ofEveryGroup: Bool = false) throws(KeychainError) -> [Credential] {
    var query = migration.selection
    if ofEveryGroup { query.accessGroup = nil }
    let found = try source.search(query)
    if let failure = found.failures.first { throw failure }
    guard found.lockedCount == 0 else { throw .locked(found.lockedCount, in: "source") }
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

  /// Separates services of which everything is in the target from the others.
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
    // One access group is not enough to know a service.
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

  private mutating func start(_ count: Int) { total = done + count }

  private mutating func countDone() {
    done += 1
    if !isAlone { showProgress() }
  }

  private mutating func showProgress() {
    shown = done
    progress?(VaultProgress(completed: done, total: total))
  }
}

extension CredentialMigration {
  fileprivate var selection: CredentialQuery {
    CredentialQuery(accessGroup: accessGroup, service: service, server: server)
  }
}

// What a run finds of an earlier one that did not finish.
extension MigrationRun {
  /// Returns the unchanged copies of earlier runs whose original is gone and whose service has not
  /// changed over.
  ///
  /// After a change-over, programs use the target, and what the source lacks was moved.
  func copiesWithoutOriginal(_ listed: [Credential]) throws(KeychainError) -> [Credential] {
    guard !migration.isOverwriting else { return [] }
    let names = Set(listed.map(\.identity))
    var found: [Credential] = []
    for copy in earlierCopies where !names.contains(copy.identity) {
      if try migration.isChosen?(copy.identity.withoutAccount) ?? true { continue }
      // A search shows an item of another program under only one of its names.
      guard try source.credential(for: copy.identity) == nil,
        try target.credential(for: copy.identity)?.version == copy.version
      else { continue }
      found.append(copy)
    }
    return found
  }

  /// Forgets the copies of services that have changed over.
  func forgetCopies() throws(KeychainError) {
    guard let notes = migration.notes else { return }
    let complete = Set(report.completeServices)
    let copies = noted + earlierCopies
    if migration.service == nil, migration.server == nil, migration.accessGroup == nil {
      try notes.forget(allBut: copies.filter { !complete.contains($0.identity.withoutAccount) })
    } else {
      try notes.forget(copies.filter { complete.contains($0.identity.withoutAccount) })
    }
  }
}
