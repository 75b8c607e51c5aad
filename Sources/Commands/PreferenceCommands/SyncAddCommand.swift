internal import ArgumentParser
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

struct SyncAddCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Share the preferences of a program with other machines",
    discussion: """
      The address names members of a cluster of etcd and a prefix, under which the suite is a \
      store. etcd+http is for addresses of this machine only. ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, \
      ETCDCTL_CERT, ETCDCTL_KEY and ETCDCTL_USER complete etcd+https:///prefix; their present \
      values are recorded, and they are not read later. A password is never part of the address: \
      it is read from a file, or from the keychain.

      It tries the connection, and reports what will happen. Keys that only this machine has are \
      sent, keys that only the store has come, and for keys that both have, the store's value \
      counts, unless --program-decides lets a program that shares the suite decide. Values are \
      never deleted by the first contact. The settings lie in prephirences/shared/SUITE.json in \
      $XDG_CONFIG_HOME. If the suite is shared already, settings without an option stay.

      --dry-run prints what would happen to each key, as 'adopt' does, and changes nothing.

      Example:
        \(preferencesPath) sync add com.example.web etcd+https://etcd.example.com:2379/fleet \
      --user web --password-file ~/.config/fleet.password
      """)

  @Argument(help: "The suite, which is the domain of a program", completion: .domains)
  var suite: String

  @Argument(help: "The address, such as etcd+https://a:2379,b:2379/prefix")
  var address: String

  @Option(help: .init("The name of the store (default: that of the suite)", valueName: "name"))
  var storeName: String?

  @Option(
    help: .init(
      "What other machines call this one (default: the name of the host)", valueName: "name"))
  var machine: String?

  @OptionGroup var connection: ConnectionOptions

  @Option(help: .init("The greatest number of keys (default: 1024)", valueName: "number"))
  var quotaKeys: Int?

  @Option(help: .init("The greatest size of all, in bytes (default: 1048576)", valueName: "number"))
  var quotaBytes: Int?

  @Flag(
    inversion: .prefixedNo,
    help: "Let conflicts wait for a program that decides them (default: no)")
  var programDecides: Bool?

  @Flag(help: "Don't try the connection")
  var offline = false

  @OptionGroup var rehearsal: DryRunOptions

  @Flag(help: "Share a suite elsewhere than before")
  var overwrite = false

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  func validate() throws {
    if let problem = PreferenceUsageText.problem(ofDomain: suite) {
      throw ValidationError(problem)
    }
    guard !offline || !rehearsal.dryRun else {
      throw ValidationError(SyncUsageText.rehearsalOffline)
    }
  }

  func perform(in session: SharingSession) throws {
    // The replaced configuration may be unusable.
    let old = try? SharingConfiguration.load(suiteName: suite)
    let configuration = try configuration(replacing: old)
    let added = SharedSuite(suite, configuration)
    // Fails if settings contradict each other.
    _ = try configuration.cluster(suiteName: suite)
    if !overwrite, let old = try SharingConfiguration.load(suiteName: suite),
      try isElsewhere(old, configuration)
    {
      throw CommandLineError.sharedElsewhere(suite, old.address)
    }
    if !offline { try FirstContact(added).report(to: session, showing: rehearsal.form) }
    if rehearsal.dryRun { return }
    try configuration.save(suiteName: suite)
    // From now on, all programs' changes are logged.
    try added.replica.share(
      configuration.settings, clearingDecisions: configuration.programDecides != true)
    session.interface.say("shared '\(suite)' as '\(added.store)' at \(configuration.address)")
    session.interface.hint(
      "'\(session.path) run' keeps it in step, as each program does that shares it")
  }

  private func configuration(
    replacing old: SharingConfiguration?
  ) throws -> SharingConfiguration {
    var configuration = try connection.configuration(for: address, replacing: old)
    if let storeName { configuration.store = storeName }
    if let machine { configuration.machine = machine }
    if let quotaKeys { configuration.quotaKeys = quotaKeys }
    if let quotaBytes { configuration.quotaBytes = quotaBytes }
    configuration.programDecides = programDecides ?? configuration.programDecides ?? false
    return configuration
  }

  private func isElsewhere(
    _ old: SharingConfiguration, _ new: SharingConfiguration
  ) throws -> Bool {
    let (ours, theirs) = (try SharedAddress(new.address), try SharedAddress(old.address))
    return !ours.isSameEngine(as: theirs) || ours.prefix != theirs.prefix
      || (old.store ?? suite) != (new.store ?? suite)
  }
}

/// Adopts another store than the one that a suite knew.
struct SyncAdoptCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt",
    abstract: "Share with the store that is at the address now",
    discussion: """
      A machine that finds another store than the one that it knew, or none, sends and deletes \
      nothing: somebody may have set up the cluster again, or the address may be wrong. This \
      command adopts the store that is there, or creates one, as at the first contact: keys that \
      only this machine has are sent, keys that only the store has come, and keys on both sides \
      are a conflict.

      --dry-run changes nothing. It prints a line for each key with another value on this machine \
      than in the store: 'sent', 'comes', 'lost' if the store's value replaces this machine's, or \
      'waits' if a program decides; then key, 'here' or 'store', type and value. A key with two \
      values has two lines.

      Example:
        \(preferencesPath) sync adopt com.example.web
      """)

  @Argument(help: "The suite", completion: .sharedSuites)
  var suite: String

  @Flag(name: .shortAndLong, help: "Don't ask")
  var yes = false

  @OptionGroup var rehearsal: DryRunOptions

  @Option(
    help: .init("How long to wait at most (default: 30s)", valueName: "time"),
    transform: WatchCommand.duration)
  var timeout: Duration = .seconds(30)

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  func perform(in session: SharingSession) throws {
    let shared = try session.suite(suite)
    if rehearsal.dryRun || !yes {
      try FirstContact(shared).report(to: session, isAdopted: true, showing: rehearsal.form)
    }
    if rehearsal.dryRun { return }
    if !yes {
      try session.context.confirm(
        "share '\(suite)' with the store that is at \(shared.configuration.address) now?")
    }
    let deadline = Deadline(after: timeout)
    let preferences = SharedPreferences(suiteName: suite)
    try SyncWaiting(shared, preferences).adopt(deadline)
    session.interface.say("'\(suite)' is shared with the store that is there now")
  }
}

struct SyncRemoveCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Stop sharing the preferences of a program",
    discussion: """
      The values stay, on this machine and in the store. Programs that share the suite keep it in \
      step until they end.

      Example:
        \(preferencesPath) sync remove com.example.web
      """,
    aliases: ["rm"])

  @Argument(help: "The suite", completion: .sharedSuites)
  var suite: String

  @Flag(name: .shortAndLong, help: "Also if changes have not been sent")
  var yes = false

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  func perform(in session: SharingSession) throws {
    let replica = try replica(session)
    let count = try replica.unshare(losesUnsent: yes)
    guard count == 0 || yes else {
      throw CommandLineError.unsentWouldBeLost(
        suite, count, session.path, isReadOnly: try replica.state().isReadOnly)
    }
    try SharingConfiguration.remove(suiteName: suite)
    // A program may have started sharing again before the settings were removed.
    try replica.unshare()
    session.interface.say("'\(suite)' is no longer shared")
  }

  /// The file, even if its settings are unusable or missing.
  private func replica(_ session: SharingSession) throws -> SharedReplica {
    let replica = SharedReplica(DurablePreferences(suiteName: suite))
    do {
      _ = try session.suite(suite)
    } catch let error as PreferencesError where error.code == .invalidAddress {
    } catch {
      guard try replica.isShared() else { throw error }
    }
    return replica
  }
}
