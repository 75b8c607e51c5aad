internal import FoundationEssentials
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// A suite that this machine shares.
struct SharedSuite {
  let name: String
  let configuration: SharingConfiguration

  init(_ name: String, _ configuration: SharingConfiguration) {
    self.name = name
    self.configuration = configuration
  }

  /// The name of the store under the prefix of the address.
  var store: String { configuration.store ?? name }

  /// The file with its values and its unsent changes.
  var replica: SharedReplica { SharedReplica(DurablePreferences(suiteName: name)) }

  /// Returns the store on the engine.
  func direct(timeout: Duration = DirectStore.timeout) throws(PreferencesError) -> DirectStore {
    let (cluster, prefix) = try configuration.cluster(suiteName: name)
    return DirectStore(
      cluster: cluster, layout: StoreLayout(prefix: prefix), machine: configuration.machineName,
      timeout: timeout)
  }

  /// Returns the names of all; empty if they cannot be found out.
  static func names() -> [String] { (try? SharingConfiguration.suiteNames()) ?? [] }
}

/// The address of shared stores, compared by what it names.
struct SharedAddress {
  private let address: EtcdAddress

  /// - Throws: `PreferencesError` if it is not valid.
  init(_ text: String) throws(PreferencesError) {
    address = try SharingConfiguration.address(text)
  }

  /// The prefix of all stores, without surrounding slashes.
  var prefix: [Substring] { address.prefix.split(separator: "/") }

  static func address(_ text: String, withPathOf other: String) -> String {
    let start = pathStart(text)
    return String(text[..<start] + other[pathStart(other)...])
  }

  private static func pathStart(_ text: String) -> String.Index {
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    return text[start...].firstIndex(of: "/") ?? text.endIndex
  }

  /// Whether both name a common member of a cluster.
  func isSameEngine(as other: SharedAddress) -> Bool {
    guard address.usesTLS == other.address.usesTLS else { return false }
    let (ours, theirs) = (Set(address.endpoints), Set(other.address.endpoints))
    return ours == theirs || !ours.isDisjoint(with: theirs)
  }
}

struct SharingSession {
  let context: PreferenceCommandContext
  let environment: EnvironmentVariables
  let interface: UserInterface
  let output: ValueOutput

  init(_ context: PreferenceCommandContext, _ host: CommandHost, isQuiet: Bool) {
    self.context = context
    environment = host.environment
    interface = host.interface(context.hostName, isQuiet: isQuiet)
    output = ValueOutput(stream: host.console.output)
  }

  /// The words before the name of a command of `sync`.
  var path: String { context.commandPath + " sync" }

  func suite(_ name: String) throws -> SharedSuite {
    guard let configuration = try SharingConfiguration.load(suiteName: name) else {
      throw CommandLineError(
        ExitCodes.notFound, "the preferences '\(name)' are not shared",
        hint: SharedSuite.names().resembling(name).map { "did you mean '\($0)'?" }
          ?? "'\(path) add \(ShellText.quoted(name)) ADDRESS' shares them")
    }
    return SharedSuite(name, configuration)
  }

  /// Returns the shared suites with these names, or all without names, and why others cannot be
  /// used.
  func suites(_ names: [String]) throws -> (usable: [SharedSuite], failures: [any Error]) {
    var found: (usable: [SharedSuite], failures: [any Error]) = ([], [])
    for name in try names.isEmpty ? SharingConfiguration.suiteNames() : names {
      do { found.usable.append(try suite(name)) } catch { found.failures.append(error) }
    }
    return found
  }

  var nothingShared: CommandLineError {
    CommandLineError(
      ExitCodes.notFound, "no preferences are shared",
      hint: "'\(path) add SUITE ADDRESS' shares those of a program")
  }
}

struct SyncWaiting {
  private let suite: SharedSuite
  private let shared: SharedPreferences

  init(_ suite: SharedSuite, _ shared: SharedPreferences) {
    self.suite = suite
    self.shared = shared
  }

  /// Sends unsent changes, and waits for those of others.
  func bringInStep(_ deadline: Deadline) throws {
    do throws(PreferencesError) {
      let worker = try worker()
      worker.wake()
      var comparison = try CopyComparison(suite, shared.replica, deadline)
      var mark = try shared.replica.outboxMark()
      var hasAll = false
      let refusal = RefusalCheck(shared.replica)
      while true {
        if !hasAll, try comparison.isInStep(deadline) {
          hasAll = true
          // Changes that a restored engine has lost are sent again.
          mark = try shared.replica.outboxMark()
        }
        let isUnsent = try isUnsent(upTo: mark, worker)
        if hasAll, !isUnsent { return shared.replica.recordContact() }
        try refusal.check(isUnsent: isUnsent)
        if let stopped = PreferencesError.stoppedSender(of: shared.replica) { throw stopped }
        guard !deadline.hasPassed else {
          try worker.flush(Deadline(after: .zero))
          throw worker.failure
            ?? PreferencesError(.timedOut, "the changes of others have not come in time")
        }
        Deadline.pause(upTo: 20)
      }
    } catch {
      shared.replica.recordFailure(error)
      throw error.code == .foreignStore
        ? CommandLineError.foreignStore(suite.name, error)
        : CommandLineError.notInStep(suite.name, error, unsent)
    }
  }

  private func isUnsent(upTo mark: Int64, _ worker: SyncWorker) throws(PreferencesError) -> Bool {
    let left = try shared.replica.unsent(upTo: mark)
    if left.areWaiting { try worker.flush(Deadline(after: .zero)) }
    return !left.keys.isEmpty
  }

  /// Adopts the store that is on the engine now.
  func adopt(_ deadline: Deadline) throws {
    let worker = try worker()
    try worker.adopt(deadline)
    worker.wake()
  }

  private func worker() throws(PreferencesError) -> SyncWorker {
    if let worker = shared.worker { return worker }
    throw shared.lastError
      ?? PreferencesError(.notFound, "the preferences '\(suite.name)' are no longer shared")
  }

  /// The number of unsent keys, or `nil` if it cannot be found out.
  private var unsent: Int? { try? shared.replica.state().unsentKeys }
}

extension CommandLineError {
  fileprivate static func foreignStore(_ suite: String, _ error: PreferencesError) -> Self {
    let path = PreferenceCommandContext.current.commandPath
    return Self(
      error.exitCode, error.message,
      hint: "check the address; '\(path) sync adopt \(ShellText.quoted(suite))' shares with that "
        + "store")
  }

  fileprivate static func notInStep(
    _ suite: String, _ error: PreferencesError, _ unsent: Int?
  ) -> Self {
    let path = PreferenceCommandContext.current.commandPath
    let kept = unsent.map {
      $0 == 0 ? "; nothing is unsent" : "; \(Words.counted($0, "key")) \(Words.are($0)) unsent"
    }
    let isTemporary = [.unreachable, .timedOut, .conflict, .outcomeUnknown].contains(error.code)
    let hint =
      error.code == .conflict
      ? "'\(path) sync status' says what waits for whom"
      : isTemporary
        ? "unsent changes are kept, and sent later"
        : "unsent changes are kept, and sent when this is fixed"
    return Self(
      error.code == .unreachable ? ExitCodes.tryAgain : error.exitCode,
      "'\(suite)' is not in step: \(error.message)\(kept ?? "")",
      hint: (unsent ?? 0) == 0 ? nil : hint)
  }
}

/// The changes of this machine that are given up for those of others from now on.
struct LostChanges {
  private let replica: SharedReplica
  private let start: Int64

  init(_ replica: SharedReplica) {
    self.replica = replica
    // A file that is not shared yet has none.
    start = (try? replica.lastFeedEntry()) ?? 0
  }

  /// Their keys, each once, the oldest first.
  var keys: [PreferenceKey] {
    var known: Set<[UInt8]> = []
    return ((try? replica.losses(after: start)) ?? []).map(\.key).filter {
      known.insert(Array($0.utf8)).inserted
    }
  }
}
