internal import Glibc
internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault

/// The failures that the commands find themselves; stores have their own.
extension KeychainError {
  static let emptyPassphrase = KeychainError(
    .refused, "an empty passphrase protects nothing",
    recovery: "choose one, or none: a vault without any is protected by the device key only")

  static let vaultOrKeyring = KeychainError(
    .invalidArgument, UserInterface.Usage.vaultOrKeyring, recovery: "leave one of them out")

  static func nobodyToAsk(for subject: UserInterface.Subject) -> Self {
    switch subject {
    case .secret:
      Self(
        .invalidArgument, "there is no terminal to ask for the secret, or asking is turned off",
        recovery: "give the secret on standard input")
    case .newPassphrase, .optionalPassphrase:
      Self(
        .invalidArgument, "there is no terminal to ask for a passphrase, or asking is turned off",
        recovery: "use --new-passphrase-fd or --new-passphrase-file")
    case .newExportPassphrase, .exportPassphrase:
      Self(
        .invalidArgument,
        "there is no terminal to ask for the passphrase of the export, or asking is turned off",
        recovery: "use --export-passphrase-fd or --export-passphrase-file")
    }
  }

  static let emptySecret = KeychainError(
    .invalidArgument, "the secret is empty; nothing was changed",
    recovery: "add --allow-empty if that is meant")

  static let noServerToChange = KeychainError(
    .invalidArgument, "a generic password has no protocol, port or path to change",
    recovery: "add --to-server to make it an internet password")

  static let needsConfirmation = KeychainError(
    .invalidArgument, "this needs a yes, and there is no terminal to ask, or asking is turned off",
    recovery: "add --yes if you are sure")

  static let notConfirmed = KeychainError(.cancelled, "cancelled; nothing was changed")

  static let needsAsyncRoot = KeychainError(
    .internalFailure, "this command is asynchronous, and the program was started without that",
    recovery: "its author makes the root command an AsyncParsableCommand, and awaits "
      + "KeychainCommandLine.main")

  /// That `help` is asked about a command that there isn't.
  static func noTopic(_ word: String, _ path: CommandPath) -> Self {
    Self(
      .invalidArgument, UserInterface.Usage.noCommand(word, path),
      recovery: "see '\(path.spelledOut) --help'")
  }

  static let manualWithoutFolder = KeychainError(
    .invalidArgument, "\(Manual.option) takes the folder for the pages, and nothing else")

  static let argumentsUnknown = KeychainError(
    .internalFailure, "the arguments cannot be read; nothing was done", recovery: "mount /proc")

  static func argumentNotText(_ index: Int) -> Self {
    Self(.invalidArgument, "argument \(index) is not valid UTF-8")
  }

  static func optionWithoutValue(_ index: Int) -> Self {
    Self(
      .invalidArgument, "argument \(index) is an option with nothing after its equals sign",
      recovery: "write an empty value as an argument of its own, such as --service ''")
  }

  static func terminalAsSource(_ option: String) -> Self {
    Self(
      .invalidArgument, "\(option) names a terminal, which would show the passphrase or code",
      recovery: "leave the option out, and it is asked for without showing it")
  }

  static func notOpen(_ descriptor: Int32, option: String) -> Self {
    Self(.invalidArgument, "descriptor \(descriptor), given by \(option), is not open")
  }

  /// Standard input was closed when the program began; the recovery says what was to be read.
  static func inputClosed(_ recovery: Recovery) -> Self {
    Self(.inputOutput, "standard input cannot be read: it is closed", recovery: recovery)
  }

  static func unreadable(_ source: String) -> Self {
    Self(.inputOutput, "\(source) cannot be read")
  }

  static func cannotRead(_ source: String, errno: Int32) -> Self {
    Self(
      .inputOutput, "\(source) cannot be read: \(reason(errno))", underlying: .system(errno: errno))
  }

  static func passphraseTooLong(_ source: String) -> Self {
    Self(.tooLarge, "what \(source) gives is longer than 1 MiB")
  }

  static let secretTooLong = KeychainError(
    .tooLarge, "the secret is longer than \(Credential.maximumSecretCount) bytes")

  static func outputFailed(errno: Int32) -> Self {
    Self(
      .inputOutput, "standard output cannot be written: \(reason(errno))",
      underlying: .system(errno: errno))
  }

  static func cannotOpen(_ path: String, errno: Int32) -> Self {
    cannotRead("'\(path)'", errno: errno)
  }

  static func cannotWrite(_ path: String, errno: Int32) -> Self {
    Self(
      .inputOutput, "'\(path)' cannot be written: \(reason(errno))",
      underlying: .system(errno: errno))
  }

  static func fileExists(_ path: String) -> Self {
    Self(
      .alreadyExists, "\(path) exists already",
      recovery: "name a new file, or use --with-key-file if this one is to open the vault")
  }

  static func openToOthers(_ path: String) -> Self {
    Self(
      .insecurePermissions, "'\(path)' can be read or changed by other users",
      recovery:
        "make it yours alone: chmod 600 '\(path)'; if others may read it, as in a container: "
        + "--allow-group-read or --allow-others-read")
  }

  static func codeFileExists(_ path: String) -> Self {
    Self(
      .alreadyExists, "\(path) exists already, and is not overwritten",
      recovery: "name a new file")
  }

  static let nobodyToShowTheCode = KeychainError(
    .refused,
    "there is no terminal to show the recovery code on, or asking is turned off; nothing was changed",
    recovery: "write it into a new file with --code-file FILE")

  static func notARegularFile(_ path: String) -> Self {
    Self(
      .refused, "'\(path)' is not a regular file, and is not overwritten",
      recovery: "name another file, or remove this one")
  }

  static func expired(_ credential: Credential) -> Self {
    let date = credential.expires.map { " on \(DateText.text($0))" } ?? ""
    return Self(
      .expired, "\(credential.identity) expired\(date)",
      recovery: "store a new secret, or read the old one with --allow-expired")
  }

  static func ambiguous(_ identities: [CredentialIdentity]) -> Self {
    let names = identities.map(\.description).joined(separator: "; ")
    return Self(
      .ambiguous, "\(identities.count) credentials match: \(names)",
      recovery: "name more of what you mean, such as the account, --service, --protocol or --port")
  }

  static func nothingMatches(_ attributes: CredentialAttributes) -> Self {
    let names = attributes.map { "'\($0.name)'" }.joined(separator: ", ")
    return Self(.notFound, "there is no credential with these values of \(names)")
  }

  static func lockedItems(_ count: Int, _ kinds: Set<StoreKind> = [.vault]) -> Self {
    Self(
      .locked,
      "no readable credential matches, and \(UserInterface.items(count)) that may match "
        + "\(UserInterface.are(count)) locked",
      recovery: .advice(
        kinds.contains(.secretService)
          ? UserInterface.unlockToSee(kinds) : UserInterface.howToUnlock))
  }

  static func otherDeviceItems(_ count: Int) -> Self {
    Self(
      .otherDevice,
      "no readable credential matches, and \(UserInterface.items(count)) that may match "
        + "\(UserInterface.are(count)) bound to another device")
  }

  static func damagedItems(_ names: [String]) -> Self {
    Self(
      .damaged,
      "\(UserInterface.items(names.count)) \(UserInterface.are(names.count)) damaged: "
        + names.joined(separator: "; "),
      recovery: "run \(.verify)")
  }

  static func damagedRecords(_ paths: [String], hasDeviceKey: Bool) -> Self {
    Self(
      .damaged,
      "which store some services have is not known, as these records cannot be read: "
        + paths.joined(separator: "; "),
      recovery: UserInterface.findingTheStore(hasDeviceKey: hasDeviceKey))
  }

  static func notIntact(_ problems: Int) -> Self {
    Self(
      .damaged, "the vault is not intact: \(problems) problem\(problems == 1 ? "" : "s") found",
      recovery: "keep a copy of the file, and restore a backup")
  }

  static func unencodable() -> Self {
    Self(.internalFailure, "the answer could not be written as JSON")
  }

  private static func reason(_ code: Int32) -> String {
    let text = strerror(code).flatMap { String(validatingCString: $0) }
    return text.map(UserInterface.inOurStyle) ?? "error \(code)"
  }
}
