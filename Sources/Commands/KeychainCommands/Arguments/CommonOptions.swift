internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The options that every command takes.
struct CommonOptions: QuickArguments {
  @Option(
    help: .init(
      "The vault's file (default: KEYCHAIN_VAULT, otherwise the usual place)", valueName: "path"),
    completion: .file())
  var vault: String?

  @Flag(
    name: .shortAndLong,
    help: "Write only errors and questions to standard error; also KEYCHAIN_QUIET")
  var quiet = false

  @Flag(help: "Never ask, on the terminal or the desktop; also KEYCHAIN_NO_PROMPT")
  var noPrompt = false

  @Option(
    help: .init(
      "How long to wait for others, input and answers: 500ms, 30s, 2m", valueName: "time"),
    transform: DurationText.argument)
  var deadline: Duration?

  @Option(help: .init("Read the unlocking passphrase from a file descriptor", valueName: "number"))
  var passphraseFd: Int32?

  @Option(
    help: .init("Read the unlocking passphrase from a file", valueName: "path"), completion: .file()
  )
  var passphraseFile: String?

  @Option(help: .init("Unlock with a key file", valueName: "path"), completion: .file())
  var keyFile: String?

  @Option(
    help: .init("Unlock with an identity, which 'identity create' makes", valueName: "path"),
    completion: .file())
  var identity: String?

  @Option(help: .init("Read the recovery code from a file descriptor", valueName: "number"))
  var recoveryCodeFd: Int32?

  @Option(help: .init("Read the recovery code from a file", valueName: "path"), completion: .file())
  var recoveryCodeFile: String?

  @Flag(help: "Accept files with passphrases and keys that their group can read, as in a container")
  var allowGroupRead = false

  @Flag(
    help: .init(
      "Accept such files even if everybody can read them, and make them where a medium has no "
        + "modes; see also KEYCHAIN_ALLOW_READ"))
  var allowOthersRead = false

  mutating func read(_ line: inout QuickLine) throws {
    vault = try line.option("vault")
    quiet = try line.flag("quiet", "q")
    noPrompt = try line.flag("no-prompt")
    deadline = try line.option("deadline", as: DurationText.argument)
    passphraseFd = try line.option("passphrase-fd", as: Int32.init(argument:))
    passphraseFile = try line.option("passphrase-file")
    keyFile = try line.option("key-file")
    identity = try line.option("identity")
    recoveryCodeFd = try line.option("recovery-code-fd", as: Int32.init(argument:))
    recoveryCodeFile = try line.option("recovery-code-file")
    allowGroupRead = try line.flag("allow-group-read")
    allowOthersRead = try line.flag("allow-others-read")
  }

  /// Whether to write only errors and questions: by the option, or by the variable if the client
  /// passes no options.
  func isQuiet(in environment: EnvironmentVariables) -> Bool { quiet || environment.asksForQuiet }

  /// Who may read files with passphrases and keys; `nil` if no option is given.
  var secretFileReaders: SecretFileReaders? {
    allowOthersRead ? .others : allowGroupRead ? .group : nil
  }

  private var unlockSourceCount: Int {
    [passphraseFile, keyFile, identity, recoveryCodeFile].count { $0 != nil }
      + [passphraseFd, recoveryCodeFd].count { $0 != nil }
  }

  /// Whether the command line gives something that unlocks the vault.
  ///
  /// An identity does not count, because it can also be for a new vault.
  var hasUnlockSource: Bool { unlockSourceCount > 0 && identity == nil }

  var unlockDescriptor: Int32? { passphraseFd ?? recoveryCodeFd }

  func validate() throws {
    guard unlockSourceCount <= 1 else { throw ValidationError(UsageText.oneUnlockSource) }
    if let passphraseFd, passphraseFd < 0 {
      throw ValidationError(UsageText.descriptor("--passphrase-fd"))
    }
    if let recoveryCodeFd, recoveryCodeFd < 0 {
      throw ValidationError(UsageText.descriptor("--recovery-code-fd"))
    }
  }

  /// Returns the given source, or `nil`; if there is one, no other is tried.
  func unlockSource(by deadline: Deadline?) throws -> UnlockSource? {
    if let passphraseFd {
      let descriptor = try PassphraseDescriptor(
        inherited: passphraseFd, option: "--passphrase-fd", by: deadline)
      return .passphrase(named: "--passphrase-fd") { () throws(KeychainError) in
        try descriptor.passphrase()
      }
    }
    if let recoveryCodeFd {
      let descriptor = try PassphraseDescriptor(
        inherited: recoveryCodeFd, option: "--recovery-code-fd", by: deadline)
      return .recoveryCode(named: "--recovery-code-fd") { () throws(KeychainError) in
        try descriptor.passphrase()
      }
    }
    if let recoveryCodeFile {
      return .recoveryCodeFile(recoveryCodeFile, named: "--recovery-code-file")
    }
    if let identity { return .identityFile(identity, named: "--identity") }
    if let passphraseFile { return .passphraseFile(passphraseFile, named: "--passphrase-file") }
    return keyFile.map { .keyFile($0, named: "--key-file") }
  }
}

extension EnvironmentVariables {
  /// Whether to write only errors and questions; any value, even one that is not text, says so.
  var asksForQuiet: Bool { isSet("KEYCHAIN_QUIET") }
}

struct StoreChoiceOptions: QuickArguments {
  @Option(
    help: .init(
      "Where credentials are kept: vault, secret-service (the desktop keyring), or auto, each "
        + "service's own",
      valueName: "kind"),
    completion: .list(StoreChoice.allCases.map(\.rawValue)), transform: StoreChoiceOptions.choice)
  var store: StoreChoice?

  @Option(
    parsing: .unconditional,
    help: .init("The collection of the desktop keyring that has this label", valueName: "name"))
  var collection: String?

  @Flag(help: "Use the desktop keyring's collection that is forgotten with the session")
  var sessionOnly = false

  mutating func read(_ line: inout QuickLine) throws {
    store = try line.option("store", as: StoreChoiceOptions.choice)
    collection = try line.option("collection")
    sessionOnly = try line.flag("session-only")
  }

  func validate() throws {
    if collection?.isEmpty == true {
      throw ValidationError(UsageText.emptyCollection)
    }
    if collection != nil && sessionOnly {
      throw ValidationError(UsageText.oneCollection)
    }
    if namesCollection, store != nil, store != .secretService {
      throw ValidationError(UsageText.collectionOfKeyring)
    }
  }

  private var namesCollection: Bool { collection != nil || sessionOnly }

  /// The store that the options choose; a collection is always of the desktop keyring.
  var choice: StoreChoice? { store ?? (namesCollection ? .secretService : nil) }

  /// The collection for new credentials, or for all if the desktop keyring was chosen.
  var secretServiceCollection: SecretServiceStore.Collection {
    collection.map { .named($0) } ?? (sessionOnly ? .session : .default)
  }

  static func choice(_ text: String) throws -> StoreChoice {
    guard let choice = StoreChoice(rawValue: text) else {
      throw ValidationError(UsageText.store)
    }
    return choice
  }
}

enum HostName {
  /// Whether a server's name also has a scheme or a port.
  ///
  /// Clients send these apart from the host, so with a protocol no client would find the name. An
  /// IPv6 address has colons, too.
  static func hasMore(_ server: String) -> Bool {
    if server.contains("://") { return true }
    guard let colon = server.utf8.lastIndex(of: UInt8(ascii: ":")) else { return false }
    let (host, port) = (server.utf8[..<colon], server.utf8[colon...].dropFirst())
    guard !port.isEmpty, port.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
      return false
    }
    return !host.contains(UInt8(ascii: ":")) || host.last == UInt8(ascii: "]")
  }
}
