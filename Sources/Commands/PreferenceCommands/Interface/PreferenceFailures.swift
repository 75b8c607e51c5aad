internal import PrephirencesCommandLine

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

  static func otherType(_ key: String, _ stored: ValueKind, _ wanted: ValueKind) -> Self {
    Self(
      ExitCodes.badData, "'\(key)' is \(stored.phrase), not \(wanted.phrase)",
      hint: "its type is \(stored.rawValue)")
  }

  static func unknownType(_ key: String) -> Self {
    Self(ExitCodes.badData, "'\(key)' has a type that these commands do not know")
  }

  static func noValue(_ kind: ValueKind, _ example: String) -> Self {
    Self(ExitCodes.usage, "the value is not \(kind.phrase)", hint: "write \(example)")
  }

  static func typeWouldChange(_ key: String, _ stored: ValueKind) -> Self {
    Self(
      ExitCodes.refused, "'\(key)' is \(stored.phrase), and would become text; nothing was changed",
      hint: "add --type \(stored.rawValue), or --type string to replace it with text")
  }

  static func exists(_ key: String, in domain: String) -> Self {
    Self(
      ExitCodes.tryAgain, "'\(key)' exists in the domain '\(domain)'; nothing was changed")
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
    ExitCodes.usage, "null is no value", hint: "'delete' removes a key")

  static let needsConfirmation = Self(
    ExitCodes.usage, "this needs a yes, and there is no terminal to ask",
    hint: "add --yes if you are sure")

  static let notConfirmed = Self(ExitCodes.cancelled, "cancelled; nothing was changed")

  static func fileExists(_ path: String) -> Self {
    Self(
      ExitCodes.tryAgain, "the file '\(path)' exists, and is kept",
      hint: "add --overwrite to replace it")
  }

  static func malformed(_ file: String, _ reason: String) -> Self {
    Self(ExitCodes.badData, "\(file) cannot be imported: \(reason); nothing was changed")
  }

  /// What `list` needs to list domains instead of the host's own.
  private static var allDomains: String {
    PreferenceCommandContext.current.defaultDomain == nil ? "" : " --domains"
  }
}

extension CommandLineError {
  static let watchTimedOut = Self(
    ExitCodes.tryAgain, "timed out before what was waited for happened")
}

extension UserInterface {
  /// Fails with the first of several failures, after the others are reported.
  func fail(with failures: [any Error]) throws {
    for failure in failures.dropFirst() {
      if let failure = CommandHost.current.failure(of: failure) { report(failure) }
    }
    if let failure = failures.first { throw failure }
  }
}
