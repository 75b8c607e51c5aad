internal import ArgumentParser
internal import PrephirencesCommandLine

/// A command that works with the preferences of a domain.
protocol PreferenceSubcommand: PreferenceCommandPart {
  var options: DomainOptions { get }

  /// Does the work.
  func perform(in session: PreferenceSession) throws
}

/// A command that can show its changes instead of making them.
protocol RehearsableSubcommand: PreferenceSubcommand {
  var rehearsal: DryRunOptions { get }
}

extension PreferenceSubcommand {
  static var isGroup: Bool { false }
  static var manual: CommonManual { PreferenceManual.common }

  static func otherUsage(_ arguments: [String], isNamed: Bool) -> OtherUsage? {
    isNamed ? DefaultsUsage.ofArguments(arguments) : DefaultsUsage.ofCommand(arguments)
  }

  static func usageHint(for message: String, hasUnknownDash: Bool) -> String? {
    if message == PreferenceUsageText.domainMissing {
      return "'\(preferencesPath) list' shows the domains"
    }
    if hasUnknownDash || message == PreferenceUsageText.valueMissing {
      return PreferenceUsageText.dash
    }
    return isUnexpected(message) ? PreferenceUsageText.domainFirst : nil
  }

  /// Also what is missing may be meant by an unknown option, or follow it.
  static func isAboutExtraArgument(_ message: String) -> Bool {
    isUnexpected(message) || message.lowercased().contains("missing expected argument")
      || PreferenceUsageText.doubtful.contains(message)
  }

  private static func isUnexpected(_ message: String) -> Bool {
    message.lowercased().contains("unexpected argument")
  }

  /// Does the work, and reports a failure under the host's name.
  ///
  /// Only the exit code is thrown, so a host's argument parser adds no second message.
  func run() throws {
    let context = PreferenceCommandContext.current
    try reportFailures(as: context.hostName, isQuiet: options.quiet) {
      StandardDescriptors.prepare()
      let rehearsal = (self as? any RehearsableSubcommand)?.rehearsal.form
      try perform(in: PreferenceSession(options, rehearsal, context))
    }
  }
}
