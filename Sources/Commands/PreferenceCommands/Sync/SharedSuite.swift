internal import FoundationEssentials
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesEtcd

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

  /// The file with its values, and with what is unsent.
  var replica: SharedReplica { SharedReplica(DurablePreferences(suiteName: name)) }

  /// Returns where the engine has it.
  func direct(
    timeout: Duration = DirectStore.timeout
  ) throws(PreferencesError) -> DirectStore {
    let (cluster, prefix) = try configuration.cluster(suiteName: name)
    return DirectStore(
      cluster: cluster, layout: StoreLayout(prefix: prefix), machine: configuration.machineName,
      timeout: timeout)
  }

  /// Returns the names of all; none if they cannot be found out.
  static func names() -> [String] { (try? SharingConfiguration.suiteNames()) ?? [] }
}

/// The address of shared stores, compared by what it names.
struct SharedAddress {
  private let address: EtcdAddress

  /// - Throws: `PreferencesError`, if it is none.
  init(_ text: String) throws(PreferencesError) {
    address = try SharingConfiguration.address(text)
  }

  /// The prefix of all stores, without slashes around it.
  var prefix: [Substring] { address.prefix.split(separator: "/") }

  /// Returns an address with the path of another one.
  static func address(_ text: String, withPathOf other: String) -> String {
    let start = pathStart(text)
    return String(text[..<start] + other[pathStart(other)...])
  }

  private static func pathStart(_ text: String) -> String.Index {
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    return text[start...].firstIndex(of: "/") ?? text.endIndex
  }

  /// Whether both name one of the same members of a cluster.
  func isSameEngine(as other: SharedAddress) -> Bool {
    guard address.usesTLS == other.address.usesTLS else { return false }
    let (ours, theirs) = (Set(address.endpoints), Set(other.address.endpoints))
    return ours == theirs || !ours.isDisjoint(with: theirs)
  }
}

/// What a command of `sync` works with.
struct SharingSession {
  let context: PreferenceCommandContext
  let interface: UserInterface

  init(_ context: PreferenceCommandContext, isQuiet: Bool) {
    self.context = context
    interface = UserInterface(hostName: context.hostName, isQuiet: isQuiet)
  }

  /// The words before the name of a command of `sync`.
  var path: String { context.commandPath + " sync" }

  /// Returns a shared suite.
  func suite(_ name: String) throws -> SharedSuite {
    guard let configuration = try SharingConfiguration.load(suiteName: name) else {
      throw CommandLineError(
        ExitCodes.notFound, "the preferences '\(name)' are not shared",
        hint: SharedSuite.names().resembling(name).map { "did you mean '\($0)'?" }
          ?? "'\(path) add \(ShellText.quoted(name)) ADDRESS' shares them")
    }
    return SharedSuite(name, configuration)
  }

  /// Returns the shared suites of these names, all if there is none, and why others cannot be used.
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
