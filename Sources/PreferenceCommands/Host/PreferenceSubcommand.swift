internal import ArgumentParser
internal import PrephirencesCommandLine

/// A command that works with the preferences of a domain.
///
/// It throws `PreferencesError`, `CommandLineError`, or an error of the argument parser.
protocol PreferenceSubcommand: PackageCommand {
  /// Whether only errors are reported.
  var isQuiet: Bool { get }

  /// Does the work.
  func perform(in context: PreferenceCommandContext) throws
}

extension PreferenceSubcommand {
  var isQuiet: Bool { false }

  static var manual: CommonManual { PreferenceManual.common }

  /// Does the work, and reports a failure under the host's name.
  func run() throws {
    StandardDescriptors.prepare()
    let context = PreferenceCommandContext.current
    try reportFailures(as: context.hostName, isQuiet: isQuiet) { try perform(in: context) }
  }
}

extension ParsableCommand {
  /// The words before the name of a command, for examples in help.
  static var preferencesPath: String { PreferenceCommandContext.current.commandPath }
}
