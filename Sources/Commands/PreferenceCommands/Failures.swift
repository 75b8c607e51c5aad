internal import Glibc
package import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

extension PreferencesError: CommandFailure {
  package var exitCode: Int32 {
    systemCode == ENOMEM
      ? ExitCodes.insufficientMemory : Self.exitCodes[code] ?? ExitCodes.otherFailure
  }

  /// Usually the message says what to do.
  package var hint: String? { code == .rolledBack ? Self.acceptingHint(for: nil) : nil }

  /// Explains how to continue with a domain whose last changes are missing.
  static func acceptingHint(for domain: String?) -> String {
    let context = PreferenceCommandContext.current
    let option =
      domain == context.defaultDomain && domain != nil
      ? "" : " --domain \(domain.map { ShellText.quoted($0) } ?? "NAME")"
    return "'\(context.commandPath) accept-restored\(option)' uses what is left"
  }

  private static let exitCodes: [Code: Int32] = [
    .notFound: ExitCodes.notFound, .unknownKey: ExitCodes.notFound,
    .invalidName: ExitCodes.usage, .unstorable: ExitCodes.usage,
    .damaged: ExitCodes.badData, .rolledBack: ExitCodes.badData, .typeMismatch: ExitCodes.badData,
    .noPlace: ExitCodes.noStore,
    .forked: ExitCodes.internalFailure,
    .inputOutput: ExitCodes.inputOutput,
    .timedOut: ExitCodes.tryAgain, .conflict: ExitCodes.tryAgain,
    .readOnly: ExitCodes.refused, .insecure: ExitCodes.refused,
    .unsupportedFormat: ExitCodes.refused,
    .invalidAddress: ExitCodes.usage, .unreachable: ExitCodes.noStore,
    .accessDenied: ExitCodes.refused, .overQuota: ExitCodes.refused,
    .certificate: ExitCodes.refused,
    .locked: ExitCodes.locked, .wrongPassword: ExitCodes.incorrectSecret,
    .foreignStore: ExitCodes.badData,
    .outcomeUnknown: ExitCodes.outcomeUnknown,
  ]
}

// The failures of the commands. None contains a value, which may be a secret by mistake.
extension CommandLineError {
  static func noDomain(_ name: String, resembling other: String?, _ path: String) -> Self {
    Self(
      ExitCodes.notFound, "there is no domain '\(name)'",
      hint: other.map { "did you mean '\($0)'\(Words.lookAlike($0, name))?" }
        ?? "'\(path) list\(Self.allDomains)' shows the domains")
  }

  static func noSharedStore(_ name: String) -> Self {
    Self(ExitCodes.notFound, "there is no shared store '\(name)' at this address")
  }

  static func noKey(_ key: String, in domain: String, resembling other: String?) -> Self {
    Self(
      ExitCodes.notFound, "there is no '\(key)' in the domain '\(domain)'",
      hint: other.map { "did you mean '\($0)'\(Words.lookAlike($0, key))?" })
  }

  static func otherType(_ key: String, _ stored: ValueType, _ wanted: ValueType) -> Self {
    Self(
      ExitCodes.badData, "'\(key)' is \(stored.phrase), not \(wanted.phrase)",
      hint: "its type is \(stored.rawValue)")
  }

  static func noValue(_ kind: ValueType, _ example: String) -> Self {
    Self(ExitCodes.usage, "the value is not \(kind.phrase)", hint: "write \(example)")
  }

  static func typeWouldChange(_ key: String, _ stored: ValueType) -> Self {
    Self(
      ExitCodes.refused, "'\(key)' is \(stored.phrase), and would become text; nothing was changed",
      hint: "add --type \(stored.rawValue), or --type string to replace it with text")
  }

  static func exists(_ key: String, in domain: String) -> Self {
    Self(ExitCodes.tryAgain, "'\(key)' exists in the domain '\(domain)'; nothing was changed")
  }

  static func unexpected(_ key: String, isAbsent: Bool) -> Self {
    Self(
      ExitCodes.tryAgain,
      isAbsent
        ? "'\(key)' has no value, so not the expected one; nothing was changed"
        : "'\(key)' has another value than the expected one; nothing was changed",
      hint: "read it again")
  }

  static let inputNotText = Self(
    ExitCodes.badData, "standard input is not valid UTF-8; nothing was changed",
    hint: "--type data --raw stores bytes")

  static let nullValue = Self(
    ExitCodes.usage, "null is not a value", hint: "'delete' removes a key")

  static let needsConfirmation = Self(
    ExitCodes.usage, "this needs a yes, and there is no terminal to ask",
    hint: "add --yes if you are sure")

  static func otherQuestion(_ failure: TerminalTurn.Failure) -> Self {
    Self(ExitCodes.tryAgain, "\(failure); nothing was changed", hint: failure.advice)
  }

  static let notConfirmed = Self(ExitCodes.cancelled, "cancelled; nothing was changed")

  static func fileExists(_ path: String) -> Self {
    Self(
      ExitCodes.tryAgain, "the file '\(path)' exists, and is kept",
      hint: "add --overwrite to replace it")
  }

  static func malformed(_ file: String, _ reason: String, hint: String?) -> Self {
    Self(
      ExitCodes.badData, "\(file) cannot be imported: \(reason); nothing was changed", hint: hint)
  }

  /// The option with which `list` lists all domains instead of the host's own.
  private static var allDomains: String {
    PreferenceCommandContext.current.defaultDomain == nil ? "" : " --domains"
  }
}

extension CommandLineError {
  static let watchTimedOut = Self(
    ExitCodes.tryAgain, "timed out before the awaited change")
}

extension UserInterface {
  /// Reports all failures but the first, and throws that.
  func fail(with failures: [any Error]) throws {
    for failure in failures.dropFirst() {
      if let failure = CommandHost.current.failure(of: failure) { report(failure) }
    }
    if let failure = failures.first { throw failure }
  }
}

// The failures of the commands for shared suites.
extension CommandLineError {
  static func revisionUnknown(_ revision: Int64, _ store: String, _ command: String) -> Self {
    Self(
      ExitCodes.notFound, "revision \(revision) has changed nothing in the store '\(store)'",
      hint: "'\(command)' lists those that have")
  }

  static func revisionCompacted(_ revision: Int64) -> Self {
    Self(
      ExitCodes.notFound,
      "etcd has compacted the values before revision \(revision), so they cannot be restored; "
        + "nothing was changed", hint: "write the values again, as a change")
  }

  static func changedSince(_ changes: [String], _ command: String) -> Self {
    Self(
      ExitCodes.tryAgain,
      "changed again since: \(changes.joined(separator: ", ")); nothing was changed",
      hint: "'\(command)' shows it")
  }

  static func noMachine(_ name: String, _ path: String) -> Self {
    Self(
      ExitCodes.notFound, "no machine has the name or tag '\(name)'",
      hint: "'\(path) machines' lists them")
  }

  static func severalMachines(_ name: String, _ tags: [String]) -> Self {
    Self(
      ExitCodes.ambiguous,
      "\(tags.count) machines have the name or tag '\(name)'; nothing was changed",
      hint: "name one by its tag: \(tags.joined(separator: ", "))")
  }

  static func sharedElsewhere(_ suite: String, _ address: String) -> Self {
    Self(
      ExitCodes.tryAgain, "the preferences '\(suite)' are shared at \(address)",
      hint: "add --overwrite to share them elsewhere instead")
  }

  static func unsentWouldBeLost(
    _ suite: String, _ count: Int, _ path: String, isReadOnly: Bool
  ) -> Self {
    let sending =
      isReadOnly ? "this user may only read, so nothing is sent" : "'\(path) now' sends them"
    return Self(
      ExitCodes.refused,
      "\(Words.counted(count, "key")) of '\(suite)' \(Words.are(count)) not sent yet; nothing was "
        + "changed",
      hint: "\(sending); --yes keeps them on this machine alone")
  }
}

extension PreferencesError {
  /// The same failure with the name of the suite, for a command that works on several.
  func naming(suite: String) -> Self {
    Self(code, "'\(suite)': \(message)", systemCode: systemCode)
  }
}
