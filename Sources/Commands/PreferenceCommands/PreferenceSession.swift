internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
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
      do {
        try perform(in: PreferenceSession(options, rehearsal, context))
      } catch let error as PreferencesError where error.code == .rolledBack {
        throw CommandLineError(
          error.exitCode, error.message, hint: PreferencesError.acceptingHint(for: options.name))
      }
    }
  }
}

/// What a command works with.
struct PreferenceSession {
  let context: PreferenceCommandContext
  let interface: UserInterface
  private let options: DomainOptions
  private let rehearsal: ValueDifference.Form?
  private let opened = OpenedDomain()

  init(
    _ options: DomainOptions, _ rehearsal: ValueDifference.Form?,
    _ context: PreferenceCommandContext
  ) {
    self.options = options
    self.rehearsal = rehearsal
    self.context = context
    interface = UserInterface(hostName: context.hostName, isQuiet: options.quiet)
  }

  /// The domain; its name was checked with the arguments.
  var domain: PreferenceDomain {
    get throws {
      if let domain = opened.domain { return domain }
      let domain = try options.open(isRehearsal: rehearsal != nil)
      opened.domain = domain
      return domain
    }
  }

  func existingDomain() throws -> PreferenceDomain {
    let domain = try domain
    guard try domain.exists() else {
      guard options.shared.store == nil else { throw CommandLineError.noSharedStore(domain.name) }
      throw CommandLineError.noDomain(
        domain.name, resembling: PreferenceDomain.names().resembling(domain.name),
        context.commandPath)
    }
    return domain
  }

  /// Fails if a domain has values that cannot be read, after those that can were shown.
  func require(_ contents: DomainContents) throws {
    try interface.fail(
      with: contents.unreadable.map(\.failure) + [contents.otherKeysFailure].compactMap(\.self))
  }

  /// Ends changes of a domain, or shows what would change; reports if values that `UserDefaults` has
  /// saved are not among them.
  func finish(_ domain: PreferenceDomain, waits: Bool) throws {
    if let rehearsal, let rehearsed = domain.rehearsed {
      let found = try rehearsed.differences()
      try ValueOutput.write(found.differences, as: rehearsal)
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

  /// Returns the failure that a domain has no such key.
  func missing(_ key: String, in domain: PreferenceDomain) -> CommandLineError {
    .noKey(key, in: domain.name, resembling: ((try? domain.keys()) ?? []).resembling(key))
  }

  /// Returns the moment at which local clocks show what clocks in UTC show at a date.
  static func local(_ shown: Date) -> Date { LocalTime.current.moment(of: shown) }
}

/// The domain of a command, which is opened once: a connection may have been made for it.
private final class OpenedDomain {
  var domain: PreferenceDomain?
}

/// A question on the terminal.
enum Confirmation {
  /// Asks for agreement; only `y` and `yes` agree.
  static func require(_ question: String, as hostName: String) throws(CommandLineError) {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { throw .needsConfirmation }
    defer { close(terminal) }
    // In the background, reading would stop the process.
    guard tcgetpgrp(terminal) == getpgrp() else { throw .needsConfirmation }
    // Otherwise it would read, and show, the answer to another question. Without a lock, it asks.
    let turn = try? TerminalTurn(on: terminal)
    do throws(TerminalTurn.Failure) { try turn?.take() } catch { throw .otherQuestion(error) }
    defer { extendLifetime(turn) }
    tcflush(terminal, TCIFLUSH)
    let text = Array("\(hostName): \(question) [y/N] ".utf8)
    guard write(terminal, text, text.count) == text.count else { throw .needsConfirmation }
    guard ["y", "yes"].contains(answer(from: terminal)) else { throw .notConfirmed }
  }

  private static func answer(from terminal: Int32) -> String {
    var answer: [UInt8] = []
    var byte: UInt8 = 0
    while answer.count < 100, read(terminal, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
      answer.append(byte)
    }
    return String(decoding: answer, as: UTF8.self).lowercased()
  }
}
