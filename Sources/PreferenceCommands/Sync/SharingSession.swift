internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesShared

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
  ///
  /// - Throws: The failure that it is not shared, or that its settings cannot be used.
  func suite(_ name: String) throws -> SharedSuite {
    guard let configuration = try SharingConfiguration.load(suiteName: name) else {
      throw CommandLineError(
        ExitCodes.notFound, "the preferences '\(name)' are not shared",
        hint: SharedSuite.names().resembling(name).map { "did you mean '\($0)'?" }
          ?? "'\(path) add \(ShellText.quoted(name)) ADDRESS' shares them")
    }
    return SharedSuite(name, configuration)
  }

  /// Returns the shared suites of these names; all if there is none.
  func suites(_ names: [String]) throws -> [SharedSuite] {
    let all = names.isEmpty
    return try (all ? SharingConfiguration.suiteNames() : names).map { try suite($0) }
  }

  /// The suites of a command that needs at least one.
  func someSuites(_ names: [String]) throws -> [SharedSuite] {
    let suites = try suites(names)
    guard !suites.isEmpty else { throw nothingShared }
    return suites
  }

  var nothingShared: CommandLineError {
    CommandLineError(
      ExitCodes.notFound, "no preferences are shared",
      hint: "'\(path) add SUITE ADDRESS' shares those of a program")
  }
}
