internal import ArgumentParser
internal import FoundationEssentials
internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesCommandLine
internal import PrephirencesSystem

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

  /// A missing argument may also follow an unknown option, or be meant by it.
  static func isAboutExtraArgument(_ message: String) -> Bool {
    isUnexpected(message) || message.lowercased().contains("missing expected argument")
      || PreferenceUsageText.doubtful.contains(message)
  }

  private static func isUnexpected(_ message: String) -> Bool {
    message.lowercased().contains("unexpected argument")
  }

  /// Performs the command, and reports a failure under the host's name.
  ///
  /// Only the exit code is thrown, so a host's argument parser adds no second message.
  func run() throws {
    let (context, host) = (PreferenceCommandContext.current, CommandHost.current)
    try reportFailures(as: context.hostName, isQuiet: options.quiet) {
      StandardDescriptors.prepare()
      let rehearsal = (self as? any RehearsableSubcommand)?.rehearsal.form
      do {
        try perform(in: PreferenceSession(options, rehearsal, context, host))
      } catch let error as PreferencesError where error.code == .rolledBack {
        throw CommandLineError(
          error.exitCode, error.message, hint: PreferencesError.acceptingHint(for: options.name))
      }
    }
  }
}

struct PreferenceSession {
  let context: PreferenceCommandContext
  let console: Console
  let interface: UserInterface
  let output: ValueOutput
  private let options: DomainOptions
  private let rehearsal: ValueDifference.Form?
  private let opened = OpenedDomain()

  init(
    _ options: DomainOptions, _ rehearsal: ValueDifference.Form?,
    _ context: PreferenceCommandContext, _ host: CommandHost
  ) {
    self.options = options
    self.rehearsal = rehearsal
    self.context = context
    console = host.console
    interface = host.interface(context.hostName, isQuiet: options.quiet)
    output = ValueOutput(stream: console.output)
  }

  /// The domain; its name was checked with the arguments.
  var domain: PreferenceDomain {
    get throws {
      if let domain = opened.domain { return domain }
      let domain = try options.open(isRehearsal: rehearsal != nil, reportingTo: interface)
      opened.domain = domain
      return domain
    }
  }

  func existingDomain() throws -> PreferenceDomain {
    let domain = try domain
    guard try domain.exists() else {
      guard options.shared.store == nil else { throw CommandLineError.noSharedStore(domain.name) }
      throw CommandLineError.noDomain(
        domain.name, resembling: context.domainNames.resembling(domain.name),
        context.commandPath)
    }
    return domain
  }

  /// Fails if a domain has unreadable values, after the readable ones were shown.
  func require(_ contents: DomainContents) throws {
    try interface.fail(
      with: contents.unreadable.map(\.failure) + [contents.otherKeysFailure].compactMap(\.self))
  }

  /// Ends changes of a domain, or shows what would change; reports values saved by `UserDefaults`
  /// that are not among them.
  func finish(_ domain: PreferenceDomain, waits: Bool) throws {
    if let rehearsal, let rehearsed = domain.rehearsed {
      let found = try rehearsed.differences()
      try output.write(found.differences, as: rehearsal)
      for failure in found.unreadable {
        if let failure = CommandHost.current.failure(of: failure) { interface.say(failure.message) }
      }
      if found.differences.isEmpty, found.unreadable.isEmpty {
        interface.say("nothing would change")
      }
    } else if waits {
      try domain.store.synchronize()
    } else {
      DurablePreferences.leaveLogs()
    }
    if let failure = domain.store.failureOfImport { interface.say(failure.message) }
  }

  func missing(_ key: String, in domain: PreferenceDomain) -> CommandLineError {
    .noKey(key, in: domain.name, resembling: ((try? domain.keys()) ?? []).resembling(key))
  }

  /// Converts a local time, given as if it were UTC, to the real moment.
  static func local(_ shown: Date) -> Date { LocalTime.current.moment(of: shown) }
}

/// The domain of a command, which is opened once, because it may need a connection.
private final class OpenedDomain {
  var domain: PreferenceDomain?
}
