internal import PreferencesShared
internal import PreferencesCore
internal import PrephirencesCommandLine

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
